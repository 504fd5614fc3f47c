import Synchronization

/// A signal from one task to another, given once.
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

  /// Waits for the signal, or for the cancellation of the waiting task.
  func wait() async {
    for await _ in stream {}
  }

  /// Blocks until the signal, as a transaction's body has to, for at most two minutes.
  ///
  /// The limit is reached only if the other task waits for this one, and cannot give the signal. On
  /// a busy machine with few threads, that task may wait long for one.
  func waitBriefly() {
    let end = ContinuousClock.now.advanced(by: .seconds(120))
    while !isGiven.withLock({ $0 }) && ContinuousClock.now < end {}
  }
}
