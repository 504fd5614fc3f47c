import Synchronization

/// A word from one task to another, given once.
final class Signal: Sendable {
  private let isGiven = Mutex(false)
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream()
  }

  func give() {
    isGiven.withLock { $0 = true }
    continuation.finish()
  }

  /// Returns when the word is given, or when the waiting task is cancelled.
  func wait() async {
    for await _ in stream {}
  }

  /// Waits without suspending, as a transaction's body has to, and no longer than two minutes.
  ///
  /// They only pass where the word cannot come, because the other task is waiting for this one. On a busy machine with few threads that
  /// other task may have to wait long for one.
  func waitBriefly() {
    let end = ContinuousClock.now.advanced(by: .seconds(120))
    while !isGiven.withLock({ $0 }) && ContinuousClock.now < end {}
  }
}
