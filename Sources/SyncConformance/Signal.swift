import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A signal from one task to another, given once.
final class Signal: Sendable {
  private let isGiven = Mutex(false)
  /// The limit of a task is unknown on the thread of a transaction.
  private let limit = min(Patience.limit, .seconds(120))
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

  /// Blocks until the signal, and returns whether it was given.
  ///
  /// The body of a transaction cannot suspend. Without another limit, this takes two minutes at
  /// most. The limit is reached only if the other task waits for this one, and cannot give the
  /// signal. On a busy machine with few threads, that task may wait long for one.
  func waitBriefly(atMost limit: Duration? = nil) -> Bool {
    let end = ContinuousClock.now.advanced(by: min(limit ?? self.limit, self.limit))
    while !wasGiven {
      if ContinuousClock.now >= end { return wasGiven }
      Self.rest()
    }
    return true
  }

  var wasGiven: Bool { isGiven.withLock { $0 } }

  /// Lets other threads run for a millisecond.
  private static func rest() {
    #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
      usleep(1000)
    #endif
  }
}
