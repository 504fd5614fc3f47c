import Synchronization

/// A value that changes, and those who follow it.
package final class ValueFeed<Value: Hashable & Sendable>: Sendable {
  private struct State {
    var value: Value
    var nextID = 0
    var streams: [Int: AsyncStream<Value>.Continuation] = [:]
  }
  private let state: Mutex<State>
  // Streams that ended, in a lock of their own that nobody holds while a value is passed on: passing on takes the lock of the consumer's task, and
  // a task that is cancelled holds its lock when it says that its stream has ended.
  private let ended = Mutex<[Int]>([])
  private let capacity: Int

  /// A feed that begins with a value and keeps so many changes for whoever is slow.
  package init(_ value: Value, capacity: Int = 16) {
    state = Mutex(State(value: value))
    self.capacity = capacity
  }

  /// The latest value.
  package var value: Value { state.withLock { $0.value } }

  /// How many streams are being consumed.
  package var subscribers: Int {
    forgetEnded()
    return state.withLock { $0.streams.count }
  }

  /// Takes a value, and passes it on if it is another than the last.
  package func send(_ value: Value) {
    forgetEnded()
    state.withLock { state in
      guard state.value != value else { return }
      state.value = value
      // Under the lock, so that what two send at once is passed on in one order; yielding runs no consumer's code.
      for stream in state.streams.inOrderOfArrival { stream.yield(value) }
    }
  }

  /// The value now, and then each change.
  package func stream() -> AsyncStream<Value> {
    forgetEnded()
    let (stream, continuation) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(capacity))
    let id = state.withLock { state in
      state.nextID += 1
      state.streams[state.nextID] = continuation
      continuation.yield(state.value)
      return state.nextID
    }
    continuation.onTermination = { [weak self] _ in self?.ended.withLock { $0.append(id) } }
    return stream
  }

  private func forgetEnded() {
    let ids = ended.withLock { ended in
      defer { ended = [] }
      return ended
    }
    guard !ids.isEmpty else { return }
    // Let go outside the lock: a continuation's end may come back here.
    withExtendedLifetime(state.withLock { state in ids.map { state.streams.removeValue(forKey: $0) } }) {}
  }
}
