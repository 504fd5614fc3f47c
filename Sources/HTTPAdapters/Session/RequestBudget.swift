import SyncModels
import SyncPorts
import Synchronization

/// Keeps requests within a budget: so many in any span of time, in the order in which they ask.
final class RequestBudget: Sendable {
  private let pace: RESTAPI.Pace
  private let clock: any SyncPorts.Clock<Duration>
  private let elapsed: @Sendable () -> Duration
  /// When the last requests were let out, or will be, the earliest one first.
  private let times = Mutex<[Duration]>([])

  init(_ pace: RESTAPI.Pace, by clock: any SyncPorts.Clock<Duration>) {
    self.pace = pace
    self.clock = clock
    elapsed = clock.stopwatch()
  }

  /// Waits until the budget allows another request.
  ///
  /// - Throws: `cancelled` if the task is cancelled meanwhile.
  func turn() async throws(SyncError) {
    let now = elapsed()
    let time = times.withLock { times in
      let time = times.count < pace.requests ? now : max(now, times.removeFirst() + pace.span)
      times.append(time)
      return time
    }
    guard time > now else { return }
    do {
      try await clock.pause(for: time - now)
    } catch {
      throw SyncError(.cancelled, during: "waiting for the pace of requests")
    }
  }
}
