import SyncModels
import SyncPorts

/// A moment by two clocks: one that measures waits, and one that gives timestamps.
struct Moment: Hashable, Sendable {
  /// The time since the coordinator was created. It never runs backwards.
  var elapsed: Duration
  var timestamp: Timestamp

  /// Returns the timestamp that belongs to another elapsed time.
  func timestamp(at elapsed: Duration) -> Timestamp {
    timestamp + (elapsed - self.elapsed)
  }
}

/// A clock whose instants are durations since its creation.
struct Timeline: Sendable {
  private let elapsed: @Sendable () -> Duration
  private let timestamp: @Sendable () -> Timestamp
  private let wait: @Sendable (Duration) async -> Void

  /// Creates a timeline that begins now.
  init(_ clock: any Clock<Duration>) {
    self.init(opened: clock)
  }

  private init<C: Clock<Duration>>(opened clock: C) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
    timestamp = { clock.timestamp }
    wait = { due in
      // A sleep ends early only on cancellation of its task, which the caller checks anyway.
      try? await WaitName.$current.withValue(.trigger) {
        try await clock.sleep(until: start.advanced(by: due), tolerance: nil)
      }
    }
  }

  var now: Moment { Moment(elapsed: elapsed(), timestamp: timestamp()) }

  /// Returns at a time, or when the task is cancelled.
  func sleep(until due: Duration) async { await wait(due) }
}
