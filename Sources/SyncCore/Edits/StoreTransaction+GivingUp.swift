import SyncModels
import SyncPorts

extension StoreTransaction {
  /// Removes edits from the outbox that will not be pushed.
  func giveUp(_ entries: [OutboxEntry]) throws(SyncError) {
    guard !entries.isEmpty else { return }
    try dequeue(entries.map(\.id))
    try completeDeletions(of: entries)
    var types = Set(entries.filter { $0.base.record != nil }.map(\.id.type))
    // A copy that waits for another record is shown as soon as that arrives.
    types.formUnion(try withheld(of: entries.map(\.id)).keys.lazy.map(\.type))
    for type in types.sorted() { try ListingGap.expose(type, in: self) }
  }

  /// Deletes rows anew whose pending deletion is given up.
  ///
  /// A store may have deferred a part of a deletion for as long as it was pending.
  private func completeDeletions(of entries: [OutboxEntry]) throws(SyncError) {
    let deletions = entries.filter { $0.edit.content == .deletion }
    guard !deletions.isEmpty else { return }
    var deleted: [Tombstone] = []
    let states = try states(of: deletions.map(\.id), comparing: [])
    for (entry, state) in zip(deletions, states) {
      guard let state, state.isDeleted else { continue }
      let tag = entry.base.version == state.version ? entry.base.record?.entityTag : nil
      deleted.append(Tombstone(id: entry.id, version: state.version, entityTag: tag))
    }
    if !deleted.isEmpty { try delete(deleted) }
  }
}
