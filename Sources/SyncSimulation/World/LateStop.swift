import SyncPorts
import Synchronization

/// A cancellation token that is cancelled after a number of checks.
///
/// It cancels between two steps that take no time.
final class LateStop: CancellationToken {
  private let patience: Mutex<Int>

  init(afterAnswers patience: Int) {
    self.patience = Mutex(patience)
  }

  var isCancelled: Bool {
    patience.withLock { patience in
      if patience > 0 { patience -= 1 }
      return patience == 0
    }
  }
}
