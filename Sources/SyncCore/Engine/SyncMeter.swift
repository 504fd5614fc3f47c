import SyncModels
import Synchronization

/// Measures one sync: bytes, retries, the time spent fetching and writing, and what a failed sync
/// committed.
final class SyncMeter: Sendable {
  struct Figures: Sendable {
    var bytes = 0
    var retries = 0
    var fetching = Duration.zero
    var writing = Duration.zero
    /// The result of a sync that failed after it began; empty for any other.
    var result = SyncResult()
  }
  private let state = Mutex(Figures())

  var figures: Figures { state.withLock { $0 } }

  func note(_ change: (inout Figures) -> Void) { state.withLock { change(&$0) } }
}
