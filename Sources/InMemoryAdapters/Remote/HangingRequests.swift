import SyncPorts
import Synchronization

/// Requests that get no answer until they are released.
final class HangingRequests: Sendable {
  private struct State {
    var nextID = 0
    var hanging: [Int: CheckedContinuation<Bool, Never>] = [:]
    var watchers: [Int: CheckedContinuation<Void, Never>] = [:]

    mutating func takeID() -> Int {
      nextID += 1
      return nextID
    }
  }
  private let state = Mutex(State())

  var count: Int { state.withLock { $0.hanging.count } }

  /// Waits, and returns false if the task was cancelled instead of released.
  func hang() async -> Bool {
    let id = state.withLock { $0.takeID() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isCancelled, watchers) = state.withLock { state in
          guard !Task.isCancelled else { return (true, [CheckedContinuation<Void, Never>]()) }
          state.hanging[id] = continuation
          defer { state.watchers = [:] }
          return (false, state.watchers.inOrderOfArrival)
        }
        for watcher in watchers { watcher.resume() }
        if isCancelled { continuation.resume(returning: false) }
      }
    } onCancel: {
      state.withLock { $0.hanging.removeValue(forKey: id) }?.resume(returning: false)
    }
  }

  func release() {
    let hanging = state.withLock { state in
      defer { state.hanging = [:] }
      return state.hanging.inOrderOfArrival
    }
    for continuation in hanging { continuation.resume(returning: true) }
  }

  func waitUntilOccupied() async {
    let id = state.withLock { $0.takeID() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if Task.isCancelled || !state.hanging.isEmpty { return true }
          state.watchers[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.watchers.removeValue(forKey: id) }?.resume()
    }
  }
}
