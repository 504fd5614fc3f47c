import SyncModels
import SyncPorts

extension Collapse {
  /// The settings by which a copy meets an edit.
  ///
  /// A re-pointed copy may have been withheld while its record was edited.
  struct Settling {
    var edits: EditOptions
    var serverManagedFields: [FieldName]
  }

  /// Points records that refer to losers with pending deletions to the winners.
  ///
  /// These references came too late for the rebuild. Copies that are withheld because they refer to
  /// a loser become visible.
  ///
  /// - Returns: The records that changed for readers, and whether all was done.
  func repoint(
    to winners: [RecordID: RecordID], _ settling: Settling, in transaction: any StoreTransaction
  ) throws(SyncError) -> (changed: SyncEvent.ChangedRecords, isComplete: Bool) {
    let referrers = Referrers(to: winners, of: entity.type, in: schema)
    var changed = SyncEvent.ChangedRecords.some([])
    guard !referrers.winners.isEmpty else { return (changed, true) }
    let withheld = WithheldReferrers(to: entity.type, in: schema)
    let shown = try withheld.reveal(referrers.winners.keys, limit: MergeContext.portion, in: transaction)
    let (found, isComplete) = try referrers.find(limit: MergeContext.portion, in: transaction)
    var drafts: [RecordDraft] = []
    for id in found.keys.sorted() {
      guard let found = found[id] else { continue }
      var draft = try RecordDraft(found.record)
      _ = referrers.point(&draft, found.fields)
      drafts.append(draft)
    }
    let pending = try transaction.edits(of: drafts.map(\.record.id))
    var writer = try EditWriter(schema, at: now, maximumClockSkew: maximumClockSkew, in: transaction)
    let pass = try transaction.checkpoint(for: entity.type)?.lastPass ?? 0
    try writer.edit(try changes(drafts, pending, pass: pass, in: transaction), pending: pending)
    var last: WithheldChange.Key?
    repeat {
      let entries = try withheld.entries(
        referringTo: referrers.winners.keys.sorted(), kinds: [.parked], after: last, in: transaction)
      last = entries.count < MergeContext.portion ? nil : entries.last?.key
      try release(entries, referrers, settling, pass: pass, by: &writer)
    } while last != nil
    try writer.finish()
    changed = writer.changed
    for id in shown { changed.insert(id) }
    let isAll = isComplete && shown.count < MergeContext.portion
    try Self.checkAdvances(changed, isComplete: isAll, of: entity)
    return (changed, isAll)
  }

  /// Releases copies that lack only losers, as edits on top of them.
  private func release(
    _ entries: [WithheldChange], _ referrers: Referrers, _ settling: Settling, pass: Int64,
    by writer: inout EditWriter
  ) throws(SyncError) {
    let transaction = writer.transaction
    for entry in entries {
      guard case .upsert(let copy) = entry.change, let own = schema[copy.id.type],
        referrers.winners[copy.id] == nil
      else { continue }
      let record = copy.withFields(of: own)
      let absent = try transaction.absent(among: own.requiredReferences(of: record))
      guard absent.allSatisfy({ referrers.winners[$0] != nil }) else { continue }
      var pending = try transaction.outbox(for: [record.id]).first
      var content = record
      if let edit = pending {
        let settler = EditSettler(
          entity: own, policy: settling.edits.policy(for: own.type),
          serverManagedFields: settling.serverManagedFields,
          maximumClockSkew: maximumClockSkew, now: now)
        let settlement = settler.meeting(.copy(record), edit)
        if let conflict = settlement.conflict { try transaction.log([conflict]) }
        pending = settlement.entry
        guard case .live(let live) = settlement.row else {
          // The app's deletion stays, on top of the copy.
          if let pending { try transaction.queue([pending]) }
          try transaction.release([entry.key])
          continue
        }
        content = live
        if pending == nil { try transaction.dequeue([record.id]) }
      }
      var draft = try RecordDraft(content)
      _ = referrers.point(&draft, referrers.fields(of: own.type))
      try transaction.release([entry.key])
      let edits = try changes([draft], pending.map { [record.id: $0] } ?? [:], pass: pass, in: transaction)
      try writer.edit(edits, pending: pending.map { [record.id: $0] } ?? [:])
      writer.noteAppeared(record.id)
    }
  }
}
