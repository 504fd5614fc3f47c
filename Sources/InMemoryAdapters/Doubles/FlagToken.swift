public import SyncPorts
import Synchronization

/// The plainest of tokens: a flag, which wakes nobody.
public final class FlagToken: CancellationToken {
  private let flag: Mutex<Bool>

  /// A token, not cancelled unless it says so.
  public init(isCancelled: Bool = false) {
    flag = Mutex(isCancelled)
  }

  /// Whether the sync should stop.
  public var isCancelled: Bool {
    get { flag.withLock { $0 } }
    set { flag.withLock { $0 = newValue } }
  }
}
