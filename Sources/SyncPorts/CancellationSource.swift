/// The library's own token: cancelling it wakes a waiting sync at once.
///
/// Other tokens are only polled.
public final class CancellationSource: CancellationToken {
  private let queue = WaitQueue<Bool, Void>(false)

  /// Creates a token that is not cancelled.
  public init() {}

  /// Whether ``cancel()`` was called.
  public var isCancelled: Bool {
    queue.update { isCancelled, _ in isCancelled }
  }

  /// Requests a stop, from any thread; a second call does nothing.
  public func cancel() {
    queue.update { isCancelled, waiters in
      isCancelled = true
      waiters.deliverToAll(())
    }
  }

  /// Returns when ``cancel()`` has been called, or when the waiting task is cancelled.
  public func waitUntilCancelled() async {
    _ = await queue.wait { isCancelled in isCancelled ? () : nil }
  }
}
