public import SyncModels

/// The events of an engine from the moment of asking, for one consumer at its own pace.
///
/// It ends when the consuming task is cancelled. A consumer that is slow loses the oldest events and is told how many; it never
/// holds a sync up.
public struct EventSequence: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = SyncEvent
  /// Reading events does not fail.
  public typealias Failure = Never

  let subscription: Subscription

  /// Ends with the last copy of the sequence and of its iterator.
  final class Subscription: Sendable {
    let buffer: EventBuffer
    private let onEnd: @Sendable () -> Void

    init(buffer: EventBuffer, onEnd: @escaping @Sendable () -> Void) {
      self.buffer = buffer
      self.onEnd = onEnd
    }

    deinit { onEnd() }
  }

  /// Takes one event after another.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let subscription: Subscription

    /// The next event; `nil` once the task is cancelled.
    public mutating func next() async -> SyncEvent? {
      await subscription.buffer.next()
    }
  }

  /// Starts reading; iterators of one sequence share its events.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(subscription: subscription)
  }
}
