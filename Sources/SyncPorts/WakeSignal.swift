/// Wakes one loop. One ring is kept while no task waits, however often it rings.
package final class WakeSignal: Sendable {
  private let queue = WaitQueue<Bool, Void>(false)

  /// Creates a signal that has not rung.
  package init() {}

  /// Whether a task waits.
  package var isAwaited: Bool { queue.update { _, waiters in !waiters.isEmpty } }

  /// Wakes the waiting task, or the next one to wait.
  package func ring() {
    queue.update { isRung, waiters in isRung = !waiters.deliverToFirst(()) }
  }

  /// Returns when the signal has rung, or when the task is cancelled.
  package func wait() async {
    _ = await queue.wait { isRung in
      defer { isRung = false }
      return isRung ? () : nil
    }
  }
}
