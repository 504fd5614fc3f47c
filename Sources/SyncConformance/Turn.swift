import Synchronization

/// Lets one task at a time run a body, in order of arrival.
///
/// A check that blocks a thread inside a transaction needs another thread for its other task. Two
/// such checks at once could block all threads.
final class Turn: Sendable {
  private struct State {
    var isTaken = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  /// Runs a body after all earlier ones have ended.
  func take<R>(_ body: () async throws -> R) async rethrows -> R {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.isTaken {
          state.waiters.append(continuation)
          return false
        }
        state.isTaken = true
        return true
      }
      if isFree { continuation.resume() }
    }
    defer { pass() }
    return try await body()
  }

  private func pass() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiters.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiters.removeFirst()
    }
    next?.resume()
  }
}
