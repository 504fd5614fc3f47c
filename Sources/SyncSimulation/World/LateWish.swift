import SyncPorts
import Synchronization

/// A wish to stop that comes once somebody has asked about it so often: between two steps of what takes no time.
final class LateWish: CancellationToken {
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
