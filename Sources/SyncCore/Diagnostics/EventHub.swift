public import SyncModels
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

/// The events of an engine from the time of the call, for one consumer.
///
/// It ends when the consuming task is cancelled. A slow consumer loses the oldest events and
/// receives their number. It never delays a sync.
public struct EventSequence: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = SyncEvent
  /// Reading events does not fail.
  public typealias Failure = Never

  let subscription: Subscription

  /// A subscription that ends with the last copy of the sequence and of its iterator.
  final class Subscription: Sendable {
    let buffer: EventBuffer
    private let onEnd: @Sendable () -> Void

    init(buffer: EventBuffer, onEnd: @escaping @Sendable () -> Void) {
      self.buffer = buffer
      self.onEnd = onEnd
    }

    deinit { onEnd() }
  }

  /// An iterator over the events.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let subscription: Subscription

    /// Returns the next event; `nil` once the task is cancelled.
    public mutating func next() async -> SyncEvent? {
      await subscription.buffer.next()
    }
  }

  /// Creates an iterator; iterators of one sequence share its events.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: subscription)
  }
}

/// The newest events that one consumer has not taken yet.
final class EventBuffer: Sendable {
  static let capacity = 256

  private struct State {
    var events: [SyncEvent] = []
    var lost = 0
  }
  /// Readers of one sequence share its events. The one that has waited longest goes first.
  private let queue = WaitQueue<State, SyncEvent>(State())

  func append(_ event: SyncEvent) {
    queue.update { state, readers in
      if readers.deliverToFirst(event) { return }
      if state.events.count == Self.capacity {
        state.events.removeFirst()
        state.lost += 1
      }
      state.events.append(event)
    }
  }

  /// Returns the events that have not been read, without waiting.
  func takeAll() -> [SyncEvent] {
    queue.update { state, _ in
      defer { (state.events, state.lost) = ([], 0) }
      return (state.lost > 0 ? [.lost(state.lost)] : []) + state.events
    }
  }

  /// Returns the next event, or `nil` when the consuming task is cancelled.
  func next() async -> SyncEvent? {
    await queue.wait { state in
      if Task.isCancelled { return nil }
      if state.lost > 0 {
        defer { state.lost = 0 }
        return .lost(state.lost)
      }
      return state.events.isEmpty ? nil : state.events.removeFirst()
    }
  }
}
