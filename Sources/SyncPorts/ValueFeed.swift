import Synchronization

/// A changing value, with the streams that follow it.
package final class ValueFeed<Value: Hashable & Sendable>: Sendable {
  private struct State {
    var value: Value
    var nextID = 0
    var streams: [Int: AsyncStream<Value>.Continuation] = [:]
  }
  private let state: Mutex<State>
  // Streams that ended, under a lock that is free while a value is yielded. Yielding takes the lock
  // of the consumer's task, and a cancelled task holds its lock when it reports that its stream has
  // ended.
  private let ended = Mutex<[Int]>([])
  private let capacity: Int

  /// Creates a feed that begins with a value.
  ///
  /// - Parameter capacity: The number of changes that are kept for a slow consumer.
  package init(_ value: Value, capacity: Int = 16) {
    state = Mutex(State(value: value))
    self.capacity = capacity
  }

  /// The latest value.
  package var value: Value { state.withLock { $0.value } }

  /// The number of streams that are being consumed.
  package var subscribers: Int {
    forgetEnded()
    return state.withLock { $0.streams.count }
  }

  /// Records a value, and passes it on if it differs from the last.
  package func send(_ value: Value) {
    forgetEnded()
    state.withLock { state in
      guard state.value != value else { return }
      state.value = value
      // Under the lock, so that concurrent values have one order in all streams. Yielding runs no
      // consumer's code.
      for stream in state.streams.inOrderOfArrival { stream.yield(value) }
    }
  }

  /// Streams the current value and then each change.
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
    // Released outside the lock, because the end of a continuation may call back here.
    withExtendedLifetime(state.withLock { state in ids.map { state.streams.removeValue(forKey: $0) } }) {}
  }
}
