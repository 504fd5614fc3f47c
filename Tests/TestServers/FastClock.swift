package import SyncModels
import SyncPorts
import Synchronization

/// A clock that runs some times faster than real time, and that can skip time.
///
/// A second by it passes sooner, and events keep their order.
package struct FastClock: SyncPorts.Clock {
  /// The number of its seconds in one real second.
  package let factor: Int
  private let origin = ContinuousClock.now
  private let skipped = Skipped()

  /// Creates a clock that starts now.
  package init(factor: Int) { self.factor = factor }

  // The machine's civil time, by which servers judge what they are sent.
  package var timestamp: Timestamp { ContinuousClock().timestamp }

  /// A time since the clock's start.
  package struct Instant: InstantProtocol {
    var offset: Duration

    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    package func duration(to other: Instant) -> Duration { other.offset - offset }
    package static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  private final class Skipped: Sendable {
    let duration = Mutex(Duration.zero)
  }

  /// Skips a duration at once.
  package func skip(_ duration: Duration) { skipped.duration.withLock { $0 += duration } }

  package var now: Instant {
    Instant(offset: origin.duration(to: .now) * factor + skipped.duration.withLock { $0 })
  }
  package var minimumResolution: Duration { .zero }

  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    // In small steps, since some of the time may be skipped.
    repeat {
      let rest = (deadline.offset - now.offset) / factor
      try await ContinuousClock().sleep(for: min(max(.zero, rest), .milliseconds(20)))
    } while now < deadline
  }
}
