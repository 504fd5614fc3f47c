import SyncModels
import SyncPorts

// What the remote answers to a push takes the road of a page; and edits whose remote copy cannot be shown give way.
extension PageMerge {
  /// Merges the remote's answers to edits that were sent.
  ///
  /// - Parameters:
  ///   - accepted: Edits that it took, each as it was sent, with the remote's state now.
  ///   - met: What the remote has instead of what an edit was made on.
  mutating func settle(
    accepted: [(entry: OutboxEntry, remoteState: RemoteState)], met: [RemoteState],
    in transaction: any StoreTransaction
  ) throws(SyncError) {
    var dequeued: [RecordID] = []
    var settled = SettledEdits()
    var states: [Incoming] = []
    unedited.reserveCapacity(unedited.count + accepted.count)
    for (entry, state) in accepted {
      if let sent = entry.sent, sent != entry.edit {
        answered.insert(entry.id)
      } else {
        dequeued.append(entry.id)
        // The answer may be a later state, written by another client.
        if case .rebuild = entry.author, case .copy(let record) = state,
          state.fulfils(entry.taking(context.serverManagedFields, of: state).edit.content, on: entry.base)
        {
          settled.rebuilt.append((entry, record))
        }
        unedited.insert(entry.id)
      }
      states.append(Incoming(state.change))
    }
    if !dequeued.isEmpty { try transaction.dequeue(dequeued) }
    try settled.write(of: entity, in: transaction)
    // Without its edit, the record takes the remote's copy as any other does; with a newer one, the copy meets that.
    try mergeAndRelease(states + met.map { Incoming($0.change) }, in: transaction)
    answered = []
  }

  /// Whether an edited record goes by its deletion; its merge policy decides.
  func deletes(_ tombstone: Tombstone, _ entry: OutboxEntry) -> Bool {
    let fate = rule.fate(of: tombstone, over: entry.state(comparedWith: nil))
    return fate != .skippedOlder && settler.meeting(.deletion(tombstone), entry).row.isDeleted
  }

  /// Gives an edit up for a copy that was parked, where the copy wins: readers see again what they saw before the edit.
  ///
  /// A merged record waits for what it refers to, with its edit. So does an edit whose record cannot go back to what it was, because
  /// that refers to a deleted record, or because others refer to a record that was not there.
  ///
  /// - Returns: The record, if it is live now and was not before.
  mutating func giveWay(
    _ entry: OutboxEntry, to settlement: EditSettlement, origin: Incoming.Origin,
    in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    guard settlement.entry == nil else { return [] }
    var settled = SettledEdits()
    settled.showsUnlisted = !origin.isPage && !context.isListed(origin)
    guard settlement.conflict != nil else {
      // What was sent is what the remote has, with more to it: until that can be shown, what was sent is.
      try transaction.dequeue([entry.id])
      try settled.write(of: entity, in: transaction)
      return []
    }
    var former = settlement
    former.row = try entry.base.shownRow(of: entry.id, entity, in: transaction)
    if former.row.isDeleted, entry.edit.content != .deletion,
      try !referenced(among: [entry.id], in: transaction).isEmpty
    {
      return []
    }
    try transaction.apply { $0.add(former, of: entry) }
    try settled.write(of: entity, in: transaction)
    tally.note(former, of: entry)
    if !former.row.shows(entry.edit.content) { tally.noteChanged(entry.id) }
    guard entry.edit.content == .deletion, case .live(let record) = former.row else { return [] }
    return [record.id]
  }
}

extension OutboxEntry.Base {
  /// What the record's row shows without its edit: the remote's state, or nothing where that refers to a deleted record.
  func shownRow(
    of id: RecordID, _ entity: Entity, in transaction: any StoreTransaction
  ) throws(SyncError) -> EditSettlement.Row {
    let row = row(of: id, entity)
    guard case .live(let record) = row else { return row }
    let targets = entity.requiredReferences(of: record)
    if targets.isEmpty { return row }
    if try transaction.absent(among: targets).isEmpty { return row }
    return .deleted(Tombstone(id: id, version: record.version, entityTag: record.entityTag))
  }
}
