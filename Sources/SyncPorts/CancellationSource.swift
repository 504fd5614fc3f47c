import Synchronization

/// The library's own token: cancelling it wakes a waiting sync at once.
///
/// Other tokens are only polled.
public final class CancellationSource: CancellationToken {
  private struct State {
    var isCancelled = false
    var nextID = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  }
  private let state = Mutex(State())

  /// Creates a token that is not cancelled.
  public init() {}

  /// Whether ``cancel()`` was called.
  public var isCancelled: Bool {
    state.withLock { $0.isCancelled }
  }

  /// Requests a stop, from any thread; a second call does nothing.
  public func cancel() {
    let waiters = state.withLock { state in
      state.isCancelled = true
      defer { state.waiters = [:] }
      return state.waiters.inOrderOfArrival
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns when ``cancel()`` has been called, or when the waiting task is cancelled.
  public func waitUntilCancelled() async {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // The handler below may have run already; then no later call would resume this
        // continuation.
        let isOver = state.withLock { state in
          if state.isCancelled || Task.isCancelled { return true }
          state.waiters[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }
}
