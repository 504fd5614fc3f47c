import SyncModels
import SyncPorts

extension EditWriter {
  /// What a live record is to become.
  struct Change {
    var shown: Record
    var content: Edit.Content
  }

  /// Edits live records, each of them once, in a handful of calls; their edits are stamped in this order.
  ///
  /// References of what is written are checked once all is written, so records may come before what they refer to. That nothing refers to what
  /// is deleted is the caller's to see to.
  ///
  /// - Parameter pending: The outbox entries of those of the records that have one.
  mutating func edit(_ changes: [Change], pending: [RecordID: OutboxEntry]) throws(SyncError) {
    var batch = Batch()
    batch.queue.reserveCapacity(changes.count)
    for change in changes {
      let record = change.shown
      guard change.content != .upsert(record.payload, schemaVersion: record.schemaVersion) else { continue }
      let entry = try entry(
        for: change.content, of: record.id, shown: record, pending: pending[record.id])
      try batch.add(entry, try entity(of: record.id))
    }
    try write(batch)
  }

  private struct Batch {
    var puts: [Record] = []
    var targets: [RecordID] = []
    var deletes: [Tombstone] = []
    var pendingDeletes: [Tombstone] = []
    var queue: [OutboxEntry] = []
    var moot: [OutboxEntry] = []

    mutating func add(_ entry: OutboxEntry, _ entity: Entity) throws(SyncError) {
      let isMoot = entry.isMoot
      switch entry.shown(of: entity, isMoot: isMoot) {
      case .live(let record):
        puts.append(record)
        targets += entity.requiredReferences(of: record)
      case .deleted(let tombstone):
        if isMoot { deletes.append(tombstone) } else { pendingDeletes.append(tombstone) }
      }
      if isMoot { moot.append(entry) } else { queue.append(entry) }
    }
  }

  private mutating func write(_ batch: Batch) throws(SyncError) {
    if !batch.puts.isEmpty { try transaction.put(batch.puts) }
    if !batch.deletes.isEmpty { try transaction.delete(batch.deletes) }
    if !batch.pendingDeletes.isEmpty { try transaction.deletePending(batch.pendingDeletes) }
    if !batch.queue.isEmpty { try transaction.queue(batch.queue) }
    try checkAreLive(Array(Set(batch.targets)), during: "editing \(Counted(batch.puts.count, "record"))")
    let ids = batch.puts.map(\.id) + batch.deletes.map(\.id) + batch.pendingDeletes.map(\.id)
    try markListed(ids)
    try transaction.giveUp(batch.moot)
    for id in ids { changed.insert(id) }
  }
}
