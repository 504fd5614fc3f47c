import InMemoryAdapters
import SyncModels
import SyncPorts

/// A transaction that notes its requested changes.
final class WatchedTransaction: ForwardingTransaction {
  let base: any StoreTransaction
  let isAwaited: Bool
  private(set) var touched = Touched()

  init(_ base: any StoreTransaction, isAwaited: Bool) {
    self.base = base
    self.isAwaited = isAwaited
  }

  func apply(_ changes: StoreChanges) throws(SyncError) {
    touched.note(changes)
    try base.apply(changes)
  }
}
