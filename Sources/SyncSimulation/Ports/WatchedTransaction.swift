import InMemoryAdapters
import SyncModels
import SyncPorts

/// A transaction that notes its requested changes.
final class WatchedTransaction: ForwardingTransaction {
  let base: any StoreTransaction
  private(set) var touched = Touched()

  init(_ base: any StoreTransaction) {
    self.base = base
  }

  func apply(_ changes: StoreChanges) throws(SyncError) {
    touched.note(changes)
    try base.apply(changes)
  }
}
