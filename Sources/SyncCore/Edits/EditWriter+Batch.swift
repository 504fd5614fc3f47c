import SyncModels
import SyncPorts

extension EditWriter {
  /// A change of a live record.
  struct Change {
    var shown: Record
    var content: Edit.Content
    var author = OutboxEntry.Author.app
  }

  /// Edits live records, each once, in few calls; stamps follow this order.
  ///
  /// References of written records are checked after all are written, so records may come before
  /// their targets. The caller makes sure that no record refers to a deleted one.
  ///
  /// - Parameter pending: The outbox entries of those of the records that have one.
  mutating func edit(_ changes: [Change], pending: [RecordID: OutboxEntry]) throws(SyncError) {
    var batch = Batch()
    batch.changes.queued.reserveCapacity(changes.count)
    for change in changes {
      let id = change.shown.id
      let entity = try entity(of: id)
      let content = change.content.keepingImmutable(change.shown, entity)
      if content.isShown(by: change.shown) { continue }
      let former = pending[id]
      batch.add(
        entry(
          for: content, of: id, entity, on: former?.base ?? .shown(change.shown), after: former,
          author: change.author),
        entity)
    }
    try write(batch)
    try checkAreLive(
      Array(Set(batch.targets)), during: "editing \(Counted(batch.changes.put.count, "record"))")
  }

  /// Rows and outbox entries to write.
  struct Batch {
    var changes = StoreChanges()
    /// The records that the written records must refer to.
    var targets: [RecordID] = []
    var moot: [OutboxEntry] = []

    mutating func add(_ entry: OutboxEntry, _ entity: Entity) {
      let isMoot = entry.isMoot
      switch entry.shown(of: entity, isMoot: isMoot) {
      case .live(let record):
        changes.put.append(record)
        targets += entity.requiredReferences(of: record)
      case .deleted(let tombstone): changes.deleted.append(tombstone)
      }
      if isMoot { moot.append(entry) } else { changes.queued.append(entry) }
    }
  }

  /// Writes the rows and entries of a batch.
  mutating func write(_ batch: Batch) throws(SyncError) {
    try transaction.apply(batch.changes)
    let ids = batch.changes.put.map(\.id) + batch.changes.deleted.map(\.id)
    // A listing that began before the edits does not contain them, and its sweep must not remove
    // them.
    try markListed(ids)
    try transaction.giveUp(batch.moot)
    for id in ids { changed.insert(id) }
  }
}
