import SyncModels
import SyncPorts

// The remote's copy of an edited record refers to what is not here. The edit is settled all the same; what could not be shown is parked.
extension PageMerge {
  /// The records that a settlement's row would refer to and that are not live.
  ///
  /// - Parameter absent: Those of the word's own targets that are not live.
  func missing(
    for settlement: EditSettlement, _ remoteState: RemoteState, absent: Set<RecordID>,
    in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    guard !absent.isEmpty, case .live(let record) = settlement.row else { return [] }
    return record.missing(absent, entity)
  }

  /// Gives an edit up for a copy that was parked, where the copy stands: readers see again what they saw before the edit.
  ///
  /// What both sides together made of the record waits for what it refers to, with its edit. So does an edit whose record cannot go back to what
  /// it was, because that refers to what has gone since, or because others refer to a record that was not there.
  mutating func giveWay(
    _ entry: OutboxEntry, to settlement: EditSettlement, origin: Incoming.Origin,
    into settlements: inout Settlements, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard settlement.entry == nil else { return }
    let isListed = origin.isPage || context.isListed(origin)
    guard settlement.conflict != nil else {
      // What was sent is what the remote has, with more to it: until that can be shown, what was sent is.
      settlements.dequeue.append(entry.id)
      if !isListed { settlements.shownUnlisted = true }
      return
    }
    var former = settlement
    former.row = try entry.base.shownRow(of: entry.id, entity, in: transaction)
    if former.row.isDeleted, entry.edit.content != .deletion,
      try !referenced(among: [entry.id], in: transaction).isEmpty
    {
      return
    }
    settlements.add(former, of: entry)
    if !isListed { settlements.shownUnlisted = true }
    noteFindings(of: former, entry)
    if !former.row.shows(entry.edit.content) { tally.noteChanged(entry.id) }
  }
}

extension OutboxEntry.Base {
  /// What the record's row shows without its edit: the remote's last word, or nothing where that refers to what has gone.
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

extension Record {
  /// Those of some records that it refers to.
  func missing(_ absent: Set<RecordID>, _ entity: Entity) -> [RecordID] {
    absent.isEmpty ? [] : entity.requiredReferences(of: self).filter(absent.contains)
  }
}
