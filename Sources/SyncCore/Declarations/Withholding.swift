import SyncModels
import SyncPorts

/// Withholds live records that refer to absent ones.
///
/// They are parked in their remote state, and the store has them as deleted.
struct Withholding {
  let schema: SyncSchema
  let transaction: any StoreTransaction

  /// The result of one transaction.
  struct Outcome: Sendable {
    /// Records that have to be withheld first.
    var referrers: [RecordID] = []
    /// The targets of records that stay because of their edits. They stay with them.
    var needed: Set<RecordID> = []
    var tally = Tally()
  }

  /// Returns those of some records that refer to absent ones, after showing hidden targets.
  func dangling(among records: [Record]) throws(SyncError) -> [RecordID] {
    let needs = records.map { ($0.id, targets(of: $0)) }.filter { !$0.1.isEmpty }
    let missing = try absent(among: needs.flatMap(\.1))
    return needs.filter { $0.1.contains(where: missing.contains) }.map(\.0)
  }

  /// Returns a portion of the live records that refer to some records.
  func referrers(to ids: [RecordID], except known: Set<RecordID>) throws(SyncError) -> [RecordID] {
    for (target, ids) in Dictionary(grouping: ids, by: \.type).sorted(by: { $0.key < $1.key }) {
      let keys = ids.map { FieldValue.string($0.key) }
      for (type, field) in schema.referrers(to: target) {
        var portions = transaction.portions(of: Query(type, where: .isIn(field, keys)))
        while let records = try portions.next() {
          let found = records.map(\.id).filter { !known.contains($0) }
          if !found.isEmpty { return found }
        }
      }
    }
    return []
  }

  /// Withholds those of some records whose targets are absent or about to be withheld.
  ///
  /// - Parameters:
  ///   - others: Records that are withheld together with them.
  ///   - needed: Records that stay, because a record that stays refers to them.
  ///   - context: Gives the entries their sync and time.
  func withhold(
    _ ids: [RecordID], beside others: Set<RecordID>, without needed: Set<RecordID>, context: MergeContext
  ) throws(SyncError) -> Outcome {
    var outcome = Outcome()
    let records = try transaction.records(withIDs: ids).compactMap(\.self)
    let absent = try absent(among: records.flatMap { targets(of: $0) })
    let edited = Set(try transaction.outbox(for: ids).map(\.id))
    let withheld = try transaction.withheld(of: ids)
    var overruled: [WithheldChange] = []
    var parked: [(record: Record, missing: [RecordID])] = []
    var (deleted, left): ([Tombstone], [RecordID]) = ([], [])
    var carriedOut: [WithheldChange.Key] = []
    outcome.needed = staying(needed, among: records) { id in
      let kind = withheld[id]?.kind
      return edited.contains(id) && kind != .parked || kind == .staged
    }
    for record in records {
      let missing = targets(of: record).filter { absent.contains($0) || others.contains($0) }
      if missing.isEmpty { continue }
      let entry = withheld[record.id]
      if let entry, entry.kind == .parked, edited.contains(record.id) {
        overruled.append(entry)
        continue
      }
      if outcome.needed.contains(record.id) {
        left.append(record.id)
        continue
      }
      // The records that the deletion was held for are withheld already.
      if let entry, entry.kind == .held, case .tombstone(let tombstone) = entry.change {
        deleted.append(tombstone)
        carriedOut.append(entry.key)
        outcome.tally.note(.deleted, of: record.id, origin: .withheld(entry), by: context.finder)
        continue
      }
      deleted.append(Tombstone(id: record.id, version: record.version, entityTag: record.entityTag))
      outcome.tally.noteWithheld(record.id)
      switch entry?.kind {
      // The change that is withheld already is newer, and will appear instead.
      case .parked?, .incompatible?, .quarantined?, .staged?, .hidden?: break
      case .held?, .missing?, nil: parked.append((record, missing))
      }
    }
    try park(parked, context)
    if !carriedOut.isEmpty { try transaction.release(carriedOut) }
    if !deleted.isEmpty { try transaction.delete(deleted) }
    let overruling = try overrule(by: overruled, context, &outcome.tally)
    outcome.needed.formUnion(records.lazy.filter { overruling.contains($0.id) }.flatMap(targets))
    left += overruling
    if !left.isEmpty {
      // An edit is pushed first. Its record is checked after the next pulls.
      try StoredDeclarations.noteLeft(left, in: transaction)
    }
    return outcome
  }

  /// Returns the records that stay, and all that they refer to.
  ///
  /// - Parameter isFirst: Whether a record stays for its own sake, as its edit is pushed first.
  private func staying(
    _ needed: Set<RecordID>, among records: [Record], _ isFirst: (RecordID) -> Bool
  ) -> Set<RecordID> {
    var staying = needed.union(records.lazy.map(\.id).filter(isFirst))
    var count: Int
    repeat {
      count = staying.count
      for record in records where staying.contains(record.id) { staying.formUnion(targets(of: record)) }
    } while staying.count > count
    return staying
  }

  /// Returns those of some records whose edits can still be pushed.
  ///
  /// An edit that a parked copy has overruled only waits until no record refers to its own.
  func edited(among ids: [RecordID]) throws(SyncError) -> Set<RecordID> {
    let withheld = try transaction.withheld(of: ids)
    return Set(try transaction.outbox(for: ids).map(\.id).filter { withheld[$0]?.kind != .parked })
  }

  /// Lets edits meet the parked copies that have overruled them.
  ///
  /// - Returns: The records that stay nevertheless.
  private func overrule(
    by entries: [WithheldChange], _ context: MergeContext, _ tally: inout Tally
  ) throws(SyncError) -> [RecordID] {
    guard let entity = entries.first.flatMap({ schema[$0.key.type] }) else { return [] }
    var merge = PageMerge(entity, context: context, tally: tally)
    try merge.release(entries, in: transaction)
    tally = merge.tally
    return try transaction.records(withIDs: entries.compactMap(\.change.id)).compactMap { $0?.id }
  }

  /// Shows again what was withheld because of records that stayed after all.
  ///
  /// A record with an edit stays, and those that refer to it were withheld before it.
  func release(above ids: [RecordID], context: MergeContext) throws(SyncError) -> Tally {
    let live = try transaction.records(withIDs: ids).compactMap { $0?.id }
    guard let entity = live.first.flatMap({ schema[$0.type] }) else { return Tally() }
    var merge = PageMerge(entity, context: context)
    try merge.releaseParked(waitingFor: live, in: transaction)
    return merge.tally
  }

  private func park(
    _ parked: [(record: Record, missing: [RecordID])], _ context: MergeContext
  ) throws(SyncError) {
    for (type, parked) in Dictionary(grouping: parked, by: \.record.id.type).sorted(by: { $0.key < $1.key }) {
      let checkpoint = try transaction.checkpoint(for: type)
      let states = try transaction.states(
        of: parked.map { Tombstone(id: $0.record.id, version: $0.record.version) })
      try transaction.withhold(
        zip(parked, states).map { found, state in
          var entry = context.parked(found.record, waitingFor: found.missing, origin: .page)
          // No remote sent what a changed declaration withholds.
          entry.finder = .store
          entry.pass = checkpoint?.lastPass(ofRowMarked: state?.isMarked ?? false) ?? 0
          return entry
        })
    }
  }

  /// Returns the records that a record needs, by the current declaration of its type.
  private func targets(of record: Record) -> [RecordID] {
    guard let entity = schema[record.id.type] else { return [] }
    return entity.requiredReferences(of: record.withFields(of: entity))
  }

  private func absent(among targets: [RecordID]) throws(SyncError) -> Set<RecordID> {
    guard !targets.isEmpty else { return [] }
    let absent = Set(try transaction.absent(among: Array(Set(targets))))
    guard !absent.isEmpty else { return [] }
    return absent.subtracting(
      try HiddenRecords(schema: schema, transaction: transaction).reveal(absent).map(\.id))
  }
}
