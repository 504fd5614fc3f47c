public import SyncPorts
import Synchronization

/// A minimal cancellation token: a flag that wakes no waiting task.
public final class FlagToken: CancellationToken {
  private let flag: Mutex<Bool>

  /// Creates a token, by default not cancelled.
  public init(isCancelled: Bool = false) {
    flag = Mutex(isCancelled)
  }

  /// Whether the sync should stop.
  public var isCancelled: Bool {
    get { flag.withLock { $0 } }
    set { flag.withLock { $0 = newValue } }
  }
}
