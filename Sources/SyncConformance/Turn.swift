import Synchronization

/// Lets one task at a time do something, in the order in which they came.
///
/// A check that blocks a thread inside a transaction needs another thread for its other task: two such checks at once
/// could keep all threads from each other.
final class Turn: Sendable {
  private struct State {
    var isTaken = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  /// Runs something when everyone who came before is done.
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
