import InMemoryAdapters
import SyncModels

/// The clocks of a world: they pass together, each at a rate of its own, and only when nobody has anything left to do.
final class VirtualTime: Sendable {
  /// One machine's clock.
  struct Watch: Sendable {
    let clock: ManualClock
    /// Thousandths of a second that pass on it in a second of the world's.
    let rate: Int

    /// How long a time by this clock is by the world's. Durations divide slowly, and most clocks run right.
    fileprivate func worldTime(_ own: Duration) -> Duration { rate == 1000 ? own : own * 1000 / rate }

    /// How long a time of the world's is by this clock.
    fileprivate func ownTime(_ time: Duration) -> Duration { rate == 1000 ? time : time * rate / 1000 }
  }

  /// The world's own clock, which never jumps.
  let clock: ManualClock
  private let watches: [Watch]

  init(_ watches: [Watch]) {
    clock = ManualClock()
    self.watches = [Watch(clock: clock, rate: 1000)] + watches
  }

  /// How long the world has lasted.
  var elapsed: Duration { clock.now.offset }

  /// How many sleeps are under way, by any clock.
  var sleepers: Int { watches.reduce(0) { $0 + $1.clock.sleepers } }

  /// Moves all clocks to where somebody wakes; whether anybody sleeps.
  func advance() -> Bool {
    let waits = watches.compactMap { watch in
      watch.clock.nextDeadline.map { watch.worldTime($0.offset - watch.clock.now.offset) }
    }
    guard let next = waits.min() else { return false }
    // Rounding must not leave a sleeper short of its deadline for ever.
    let step = max(next, .zero) + .nanoseconds(1)
    for watch in watches { watch.clock.advance(by: watch.ownTime(step)) }
    return true
  }
}
