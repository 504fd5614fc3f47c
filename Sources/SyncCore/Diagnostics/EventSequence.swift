public import SyncModels

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
