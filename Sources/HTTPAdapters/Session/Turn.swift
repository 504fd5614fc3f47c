package import SyncModels
import Synchronization

/// Lets tasks act one at a time, in the order in which they asked.
package final class Turn: Sendable {
  private struct State {
    var isTaken = false
    var nextID = 0
    var waiters: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
  }
  private let state = Mutex(State())

  package init() {}

  /// Waits for the turn.
  ///
  /// - Throws: `cancelled` if the task is cancelled meanwhile; the turn is then not taken.
  package func take(during operation: String) async throws(SyncError) {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let isMine = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // The handler below may have run already.
        let outcome = state.withLock { state -> Bool? in
          if Task.isCancelled { return false }
          guard state.isTaken else {
            state.isTaken = true
            return true
          }
          state.waiters.append((id, continuation))
          return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let place = state.waiters.firstIndex { $0.id == id }
        return place.map { state.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume(returning: false)
    }
    guard isMine else { throw SyncError(.cancelled, during: operation) }
  }

  /// Ends the turn.
  package func pass() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard state.waiters.isEmpty else { return state.waiters.removeFirst().continuation }
      state.isTaken = false
      return nil
    }
    next?.resume(returning: true)
  }
}
