import SyncModels
import SyncPorts

/// A transaction that notes what it is asked to change, and hands everything on.
final class WatchedTransaction: ForwardingTransaction {
  private(set) var touched = Touched()

  override func put(_ copies: [Record]) throws(SyncError) {
    touched.records.formUnion(copies.lazy.map(\.id))
    try base.put(copies)
  }

  override func touch(_ copies: [Record]) throws(SyncError) {
    touched.records.formUnion(copies.lazy.map(\.id))
    try base.touch(copies)
  }

  override func delete(_ tombstones: [Tombstone]) throws(SyncError) {
    touched.records.formUnion(tombstones.lazy.map(\.id))
    try base.delete(tombstones)
  }

  override func deletePending(_ tombstones: [Tombstone]) throws(SyncError) {
    touched.records.formUnion(tombstones.lazy.map(\.id))
    try base.deletePending(tombstones)
  }

  override func withheld(_ entries: [WithheldChange]) throws(SyncError) {
    touched.shelf.formUnion(entries.lazy.map(\.key))
    try base.withheld(entries)
  }

  override func release(_ keys: [WithheldChange.Key]) throws(SyncError) {
    touched.shelf.formUnion(keys)
    try base.release(keys)
  }

  override func mark(_ ids: [RecordID]) throws(SyncError) {
    touched.records.formUnion(ids)
    try base.mark(ids)
  }

  override func clearMarks(_ type: RecordType) throws(SyncError) {
    touched.unmarked.insert(type)
    try base.clearMarks(type)
  }

  override func setCheckpoint(_ checkpoint: Checkpoint, for type: RecordType) throws(SyncError) {
    touched.checkpoints.insert(type)
    try base.setCheckpoint(checkpoint, for: type)
  }

  override func setValue(_ value: [UInt8]?, forKey key: String) throws(SyncError) {
    touched.values.insert(key)
    try base.setValue(value, forKey: key)
  }

  override func queue(_ entries: [OutboxEntry]) throws(SyncError) {
    touched.outbox.formUnion(entries.lazy.map(\.id))
    try base.queue(entries)
  }

  override func dequeue(_ ids: [RecordID]) throws(SyncError) {
    touched.outbox.formUnion(ids)
    try base.dequeue(ids)
  }

  override func log(_ conflicts: [Conflict]) throws(SyncError) {
    touched.changesConflicts = true
    try base.log(conflicts)
  }

  override func removeConflicts(settledBefore instant: Timestamp) throws(SyncError) {
    touched.changesConflicts = true
    try base.removeConflicts(settledBefore: instant)
  }
}
