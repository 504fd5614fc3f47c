import SyncModels
import Synchronization

/// The newest events that one consumer has not taken yet.
final class EventBuffer: Sendable {
  static let capacity = 256

  private struct State {
    var events: [SyncEvent] = []
    var lost = 0
    var nextID = 0
    /// Readers that wait for an event and share one sequence, longest waiting first.
    var waiters: [(id: Int, continuation: CheckedContinuation<SyncEvent?, Never>)] = []
  }
  private let state = Mutex(State())

  func append(_ event: SyncEvent) {
    let waiter = state.withLock { state -> CheckedContinuation<SyncEvent?, Never>? in
      if !state.waiters.isEmpty { return state.waiters.removeFirst().continuation }
      if state.events.count == Self.capacity {
        state.events.removeFirst()
        state.lost += 1
      }
      state.events.append(event)
      return nil
    }
    waiter?.resume(returning: event)
  }

  /// Returns the next event, or `nil` when the consuming task is cancelled.
  func next() async -> SyncEvent? {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready = state.withLock { state -> SyncEvent?? in
          if Task.isCancelled { return .some(nil) }
          if state.lost > 0 {
            defer { state.lost = 0 }
            return .lost(state.lost)
          }
          if !state.events.isEmpty { return state.events.removeFirst() }
          state.waiters.append((id, continuation))
          return nil
        }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> CheckedContinuation<SyncEvent?, Never>? in
        guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
        return state.waiters.remove(at: index).continuation
      }
      waiter?.resume(returning: nil)
    }
  }
}
