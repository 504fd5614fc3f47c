import Synchronization

/// Wakes the waiting task, or the next one to wait if none is waiting.
final class WakeUpCall: Sendable {
  private struct State {
    var isDue = false
    var sleeper: CheckedContinuation<Void, Never>?
  }
  private let state = Mutex(State())

  func ring() {
    let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if state.sleeper == nil { state.isDue = true }
      return state.sleeper.take()
    }
    sleeper?.resume()
  }

  /// Waits for a call, or until the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isDue || Task.isCancelled {
            state.isDue = false
            return true
          }
          state.sleeper = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.sleeper.take() }?.resume()
    }
  }
}
