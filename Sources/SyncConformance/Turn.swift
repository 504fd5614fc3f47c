import SyncPorts

/// Lets one task at a time run a body, in order of arrival.
///
/// A check that blocks a thread inside a transaction needs another thread for its other task. Two
/// such checks at once could block all threads.
final class Turn: Sendable {
  /// Whether a body runs, and the tasks that wait for its end.
  private let queue = WaitQueue<Bool, Void>(false)

  /// Runs a body after all earlier ones have ended.
  func take<R>(_ body: () async throws -> R) async rethrows -> R {
    _ = await queue.wait(endsWithTask: false) { isTaken in
      defer { isTaken = true }
      return isTaken ? nil : ()
    }
    defer { queue.update { isTaken, waiters in isTaken = waiters.deliverToFirst(()) } }
    return try await body()
  }
}
