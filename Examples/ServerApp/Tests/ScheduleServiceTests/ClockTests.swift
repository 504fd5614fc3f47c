import CanonicalSync
import Testing

/// A third-party clock that does not use CanonicalSync.
struct OddClock: _Concurrency.Clock {
  var now: ContinuousClock.Instant { ContinuousClock.now }
  var minimumResolution: Duration { .zero }
  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}

// One line lets it create timestamps as well.
extension OddClock: CanonicalSync.Clock {}

@Suite("A clock in an app's own file")
struct ClockTests {
  /// Compiles as it did before CanonicalSync was imported.
  private func pauseAndStamp(on clock: any Clock<Duration>) async throws -> Timestamp {
    try await clock.sleep(for: .zero)
    return clock.timestamp
  }

  @Test func isAStandardOneOrItsOwn() async throws {
    let past = Timestamp(milliseconds: 1_700_000_000_000)
    // In an array: a protocol that fixes its Duration also compiled, and crashed here.
    let clocks: [any Clock<Duration>] = [ContinuousClock(), SuspendingClock(), OddClock()]
    for clock in clocks { #expect(try await pauseAndStamp(on: clock) > past) }
  }

  @Test func canBeSpelledOutAsTheStandardOne() async throws {
    let clock: any _Concurrency.Clock<Duration> = ContinuousClock()
    try await clock.sleep(for: .zero)
  }
}
