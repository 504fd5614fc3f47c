import SyncPorts

/// A clock on which time passes some times faster than on the wall: what takes a second by it is over sooner, and in the same order.
package struct FastClock: SyncPorts.Clock {
  /// How many seconds pass by it in one.
  package let factor: Int
  private let origin = ContinuousClock.now

  /// A clock that starts now.
  package init(factor: Int) { self.factor = factor }

  /// A moment, counted from the clock's start.
  package struct Instant: InstantProtocol {
    var offset: Duration

    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    package func duration(to other: Instant) -> Duration { other.offset - offset }
    package static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  package var now: Instant { Instant(offset: origin.duration(to: .now) * factor) }
  package var minimumResolution: Duration { .zero }

  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let rest = (deadline.offset - now.offset) / factor
    try await ContinuousClock().sleep(for: max(.zero, rest))
  }
}
