import SyncModels
import SyncPorts

/// A moment by both clocks: the one that waits are measured with, and the one that things are stamped with.
struct Moment: Hashable, Sendable {
  /// Since the coordinator was made; nobody can set it back.
  var elapsed: Duration
  var timestamp: Timestamp

  /// What the clock on the wall shows at another time.
  func timestamp(at elapsed: Duration) -> Timestamp {
    timestamp + (elapsed - self.elapsed)
  }
}

/// A clock seen from one beginning, so that instants are plain durations.
struct Timeline: Sendable {
  private let elapsed: @Sendable () -> Duration
  private let timestamp: @Sendable () -> Timestamp
  private let wait: @Sendable (Duration) async -> Void

  /// Begins now.
  init(_ clock: any Clock<Duration>) {
    self.init(opened: clock)
  }

  private init<C: Clock<Duration>>(opened clock: C) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
    timestamp = { clock.timestamp }
    wait = { due in
      // A sleep ends early only because its task was cancelled, which whoever waits asks about anyway.
      try? await clock.sleep(until: start.advanced(by: due), tolerance: nil)
    }
  }

  var now: Moment { Moment(elapsed: elapsed(), timestamp: timestamp()) }

  /// Returns at some time, or when the task is cancelled.
  func sleep(until due: Duration) async { await wait(due) }
}
