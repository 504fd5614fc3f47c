import SyncModels
import SyncPorts

extension EditWriter {
  /// What a live record is to become.
  struct Change {
    var shown: Record
    var content: Edit.Content
    var author = OutboxEntry.Author.app
  }

  /// Edits live records, each of them once, in a handful of calls; their edits are stamped in this order.
  ///
  /// References of what is written are checked once all is written, so records may come before what they refer to. That nothing refers to what
  /// is deleted is the caller's to see to.
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
    /// What the records that are put have to refer to.
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

  /// Writes rows and entries as they are.
  mutating func write(_ batch: Batch) throws(SyncError) {
    try transaction.apply(batch.changes)
    let ids = batch.changes.put.map(\.id) + batch.changes.deleted.map(\.id)
    // A listing that began before the edits cannot know of them, and must not sweep what it does not know.
    try markListed(ids)
    try transaction.giveUp(batch.moot)
    for id in ids { changed.insert(id) }
  }
}
