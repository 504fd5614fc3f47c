public import SyncModels
public import SyncPorts
import Synchronization

/// An observer that keeps all events, and lets a test wait for one.
public final class EventRecorder: SyncObserver {
  private struct Waiter {
    var wants: @Sendable (SyncEvent) -> Bool
    var continuation: CheckedContinuation<SyncEvent?, Never>
  }

  private struct State {
    var events: [SyncEvent] = []
    var nextID = 0
    var waiters: [Int: Waiter] = [:]
  }

  private let state = Mutex(State())

  /// Creates a recorder without events.
  public init() {}

  /// The events so far, oldest first.
  public var events: [SyncEvent] { state.withLock { $0.events } }

  /// Keeps an event, and wakes the tasks that wait for it.
  public func receive(_ event: SyncEvent) {
    // The predicates are code of the test, so none of it runs under the lock.
    let waiters = state.withLock { state in
      state.events.append(event)
      return state.waiters
    }
    for (id, waiter) in waiters where waiter.wants(event) {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: event)
    }
  }

  /// Returns the first event that satisfies a predicate, past events included.
  ///
  /// Returns `nil` if the task is cancelled first.
  public func wait(for predicate: @escaping @Sendable (SyncEvent) -> Bool) async -> SyncEvent? {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let events = state.withLock { state in
          state.waiters[id] = Waiter(wants: predicate, continuation: continuation)
          return state.events
        }
        // Registering first and looking back second misses no event. The code that removes a waiter
        // resumes it.
        let known = events.first(where: predicate)
        guard known != nil || Task.isCancelled else { return }
        state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: known)
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: nil)
    }
  }
}
