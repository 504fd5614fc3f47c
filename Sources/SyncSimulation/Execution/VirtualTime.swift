import InMemoryAdapters
import SyncModels

/// The clocks of a world, each with its own rate.
///
/// All advance together, and only when no job is ready.
final class VirtualTime: Sendable {
  /// One machine's clock.
  struct Watch: Sendable {
    let clock: ManualClock
    /// The milliseconds that it advances in a second of world time.
    let rate: Int

    /// Converts a time of this clock to world time.
    ///
    /// Divisions of durations are slow, and most clocks have the exact rate.
    fileprivate func worldTime(_ own: Duration) -> Duration { rate == 1000 ? own : own * 1000 / rate }

    /// Converts world time to a time of this clock.
    fileprivate func ownTime(_ time: Duration) -> Duration { rate == 1000 ? time : time * rate / 1000 }
  }

  /// The world's own clock, which never jumps.
  let clock: ManualClock
  private let watches: [Watch]

  init(_ watches: [Watch]) {
    clock = ManualClock()
    self.watches = [Watch(clock: clock, rate: 1000)] + watches
  }

  /// The elapsed time of the world.
  var elapsed: Duration { clock.now.offset }

  /// The number of sleeps in progress, on all clocks.
  var sleepers: Int { watches.reduce(0) { $0 + $1.clock.sleepers } }

  /// Advances all clocks to the next wake-up; false if no sleep is in progress.
  func advance() -> Bool {
    let waits = watches.compactMap { watch in
      watch.clock.nextDeadline.map { watch.worldTime($0.offset - watch.clock.now.offset) }
    }
    guard let next = waits.min() else { return false }
    // Without the extra nanosecond, rounding could keep a sleeper before its deadline forever.
    let step = max(next, .zero) + .nanoseconds(1)
    for watch in watches { watch.clock.advance(by: watch.ownTime(step)) }
    return true
  }
}
