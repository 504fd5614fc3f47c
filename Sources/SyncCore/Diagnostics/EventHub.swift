import SyncModels
import SyncPorts
import Synchronization

/// Passes each event to the observers and to the readers of ``EventSequence``.
final class EventHub: Sendable {
  private struct State {
    var nextID = 0
    var buffers: [Int: EventBuffer] = [:]
  }
  private let observers: [any SyncObserver]
  private let state = Mutex(State())

  init(observers: [any SyncObserver]) {
    self.observers = observers
  }

  func emit(_ event: SyncEvent) {
    for observer in observers { observer.receive(event) }
    for buffer in state.withLock({ $0.buffers }).inOrderOfArrival { buffer.append(event) }
  }

  func subscribe() -> EventSequence {
    let buffer = EventBuffer()
    let id = state.withLock { state in
      state.nextID += 1
      state.buffers[state.nextID] = buffer
      return state.nextID
    }
    return EventSequence(
      subscription: EventSequence.Subscription(buffer: buffer) { [weak self] in
        self?.state.withLock { $0.buffers[id] = nil }
      })
  }
}
