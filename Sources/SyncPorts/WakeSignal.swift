/// Wakes one loop. One signal is kept while no task waits, however many are given.
package final class WakeSignal: Sendable {
  private let queue = WaitQueue<Bool, Void>(false)

  /// Creates a signal that was not given.
  package init() {}

  /// Whether a task waits.
  package var isAwaited: Bool { queue.update { _, waiters in !waiters.isEmpty } }

  /// Wakes the waiting task, or the next one to wait.
  package func signal() {
    queue.update { isGiven, waiters in isGiven = !waiters.deliverToFirst(()) }
  }

  /// Returns when the signal was given, or when the task is cancelled.
  package func wait() async {
    _ = await queue.wait { isGiven in
      defer { isGiven = false }
      return isGiven ? () : nil
    }
  }
}
