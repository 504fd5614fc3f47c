import InMemoryAdapters
import SyncModels
import SyncPorts

/// A transaction that notes its requested changes.
final class WatchedTransaction: ForwardingTransaction {
  let base: any StoreTransaction
  let shouldCommit: Bool
  private(set) var touched = Touched()

  init(_ base: any StoreTransaction, shouldCommit: Bool) {
    self.base = base
    self.shouldCommit = shouldCommit
  }

  func apply(_ changes: StoreChanges) throws(SyncError) {
    touched.note(changes)
    try base.apply(changes)
  }
}
