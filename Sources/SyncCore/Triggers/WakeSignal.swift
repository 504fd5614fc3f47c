import Synchronization

/// Wakes one loop. One ring is kept while no task waits, however often it rings.
final class WakeSignal: Sendable {
  private struct State {
    var isRung = false
    var nextID = 0
    var waiter: (id: Int, continuation: CheckedContinuation<Void, Never>)?
  }
  private let state = Mutex(State())

  /// Whether a task waits.
  var isAwaited: Bool { state.withLock { $0.waiter != nil } }

  func ring() {
    let waiter = state.withLock { state in
      state.isRung = state.waiter == nil
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.continuation.resume()
  }

  /// Returns when the signal has rung, or when the task is cancelled.
  func wait() async {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // The handler below may have run already; then no later call would resume this
        // continuation.
        let isOver = state.withLock { state in
          if state.isRung || Task.isCancelled {
            state.isRung = false
            return true
          }
          state.waiter = (id, continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard state.waiter?.id == id else { return nil }
        defer { state.waiter = nil }
        return state.waiter?.continuation
      }
      waiter?.resume()
    }
  }
}
