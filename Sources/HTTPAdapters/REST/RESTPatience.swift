import SyncModels
import SyncPorts

/// The short pauses that a batch or a page waits out where a server asks for them.
///
/// Otherwise all of its requests would be made again, up to the same pause.
struct RESTPatience {
  private static let longestPause = Duration.seconds(30)
  private static let mostPauses = 4
  /// The pauses in succession.
  private var pauses = 0

  /// Waits for as long as a failure says.
  ///
  /// - Returns: `false` at once if that is too long, after too many pauses in succession, and when the
  ///   task is cancelled.
  mutating func waitsOut(_ failure: SyncError, by clock: any Clock<Duration>) async -> Bool {
    guard let pause = failure.retryAfter, pause <= Self.longestPause, pauses < Self.mostPauses else {
      return false
    }
    pauses += 1
    return (try? await clock.sleep(for: pause)) != nil
  }
}
