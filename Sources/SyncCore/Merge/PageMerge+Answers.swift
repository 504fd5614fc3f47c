import SyncModels
import SyncPorts

// The remote's answers to a push are merged like a page. Edits whose remote copy cannot be shown
// give way.
extension PageMerge {
  /// Merges the remote's answers to sent edits.
  ///
  /// - Parameters:
  ///   - accepted: Edits that the remote accepted as they were sent, with its current state.
  ///   - met: The remote states that differ from the bases of edits.
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
        if entry.isRestoration { restored.insert(entry.id) }
        // The answer may be a later state, written by another client.
        if case .rebuild = entry.author, case .copy(let record) = state,
          state.fulfils(
            entry.taking(entity.remote.serverManagedFields, of: state).edit.content, on: entry.base)
        {
          settled.rebuilt.append((entry, record))
        }
        unedited.insert(entry.id)
      }
      states.append(Incoming(state.change))
    }
    if !dequeued.isEmpty { try transaction.endEdits(dequeued) }
    try settled.write(of: entity, at: context.now, in: transaction, &tally)
    // A record without its edit takes the remote's copy like any other. With a newer edit, the copy
    // meets that edit.
    try mergeAndRelease(states + met.map { Incoming($0.change) }, in: transaction)
    (answered, restored) = ([], [])
  }

  /// Whether a remote deletion deletes an edited record; its merge policy decides.
  func deletes(_ tombstone: Tombstone, _ entry: OutboxEntry) -> Bool {
    let outcome = rule.outcome(of: tombstone, over: entry.state(comparedWith: nil))
    return outcome != .skippedOlder && settler.meeting(.deletion(tombstone), entry).row.isDeleted
  }

  /// Drops an edit for a winning parked copy, so that readers see the previous state.
  ///
  /// A merged record keeps waiting with its edit for the records that it refers to. So does an edit
  /// whose record cannot return to its previous state, because that refers to a deleted record, or
  /// because others refer to a record that did not exist.
  ///
  /// - Returns: The record, if it is live now and was not before.
  mutating func giveWay(
    _ entry: OutboxEntry, to settlement: EditSettlement, origin: Incoming.Origin,
    in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    // A field is restored once the copy is shown.
    guard settlement.entry?.isRestoration ?? true else { return [] }
    var settled = SettledEdits()
    settled.showsUnlisted = !origin.isPage && !context.isListed(origin)
    guard settlement.conflict != nil else {
      // The remote has the sent state with additions. Until that can be shown, the sent state is
      // shown.
      try transaction.endEdits([entry.id])
      try settled.write(of: entity, at: context.now, in: transaction, &tally)
      return []
    }
    var former = settlement
    former.entry = nil
    former.row = try entry.base.shownRow(of: entry.id, entity, in: transaction)
    if former.row.isDeleted, entry.edit.content != .deletion,
      try !referenced(among: [entry.id], in: transaction).isEmpty
    {
      return []
    }
    try transaction.apply { $0.add(former, of: entry) }
    settled.note(former, of: entry.id)
    try settled.write(of: entity, at: context.now, in: transaction, &tally)
    tally.note(former, of: entry)
    if !former.row.shows(entry.edit.content) { tally.noteChanged(entry.id) }
    guard entry.edit.content == .deletion, case .live(let record) = former.row else { return [] }
    return [record.id]
  }
}

extension OutboxEntry.Base {
  /// Returns the row without its edit: the remote state, if its references are live.
  ///
  /// Otherwise it is a deletion.
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
