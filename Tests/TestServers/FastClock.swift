import SyncPorts
import Synchronization

/// A clock on which time passes some times faster than on the wall, and on which some can be skipped: what takes a second by it is over
/// sooner, and in the same order.
package struct FastClock: SyncPorts.Clock {
  /// How many seconds pass by it in one.
  package let factor: Int
  private let origin = ContinuousClock.now
  private let skipped = Skipped()

  /// A clock that starts now.
  package init(factor: Int) { self.factor = factor }

  /// A moment, counted from the clock's start.
  package struct Instant: InstantProtocol {
    var offset: Duration

    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    package func duration(to other: Instant) -> Duration { other.offset - offset }
    package static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  private final class Skipped: Sendable {
    let duration = Mutex(Duration.zero)
  }

  /// Lets some time pass at once.
  package func skip(_ duration: Duration) { skipped.duration.withLock { $0 += duration } }

  package var now: Instant {
    Instant(offset: origin.duration(to: .now) * factor + skipped.duration.withLock { $0 })
  }
  package var minimumResolution: Duration { .zero }

  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    // By and by, since some of it may be skipped.
    repeat {
      let rest = (deadline.offset - now.offset) / factor
      try await ContinuousClock().sleep(for: min(max(.zero, rest), .milliseconds(20)))
    } while now < deadline
  }
}
