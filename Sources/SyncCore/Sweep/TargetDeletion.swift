import SyncModels
import SyncPorts

/// Carries out the rules of references whose targets the remote has deleted.
///
/// A deletion is held back while a record refers to its record. Mostly the reference ends with the
/// same sync or the next. If it does not, nothing will end it, and devices would show different
/// records for good.
struct TargetDeletion: SyncPhase {
  let sink: any RemoteRecordSink

  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      for entity in session.entities
      where try snapshot.withheldCounts(entity.type)[.held, default: 0] > 0 { return true }
      return false
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    // References are known completely only after all types have been pulled.
    guard session.entities.count == session.schema.entities.count, session.progress.result.failures.isEmpty,
      session.progress.result.refusedSweeps.isEmpty
    else { return .finished }
    var edited: Set<RecordType> = []
    // A record that stays for others' sake keeps its own targets.
    for entity in session.entities.reversed()
    where entity.refersToItself || !session.schema.referrers(to: entity.type).isEmpty {
      let rules = DeletionRules(
        entity: entity, schema: session.schema, fence: session.fence, began: session.entry.began,
        now: session.environment.clock.timestamp, options: session.environment.edits)
      let end = try await session.stop.walk { (start: WithheldChange.Key?) throws(SyncError) in
        let outcome = try await session.write { (transaction) throws(SyncError) in
          try rules.portion(after: start, in: transaction)
        }
        for event in outcome.events { session.environment.emit(event) }
        if !outcome.changed.isEmpty { session.environment.emit(.edited(outcome.changed)) }
        edited.formUnion(outcome.types)
        return outcome.end
      }
      if end == .stopped { return .stopped }
    }
    if edited.isEmpty { return .finished }
    return try await PushRun.finish(
      session.entities.filter { edited.contains($0.type) }, to: sink, in: &session)
  }
}

/// The rules for the held deletions of one type.
private struct DeletionRules: Sendable {
  let entity: Entity
  let schema: SyncSchema
  /// The sync's fencing number, and when it began.
  let fence: Int64
  let began: Timestamp
  let now: Timestamp
  let options: EditOptions

  /// The most records of a reference for which a rule is carried out at once. The next sync goes on.
  private static let limit = 1000

  struct Outcome: Sendable {
    var events: [SyncEvent] = []
    var changed = ChangedRecords.records([])
    var types: Set<RecordType> = []
    /// The key after which the next portion begins; `nil` after the last.
    var end: WithheldChange.Key?
  }

  /// A live record that refers to a deleted one.
  private struct Referrer {
    var record: Record
    var reference: Reference
  }

  func portion(
    after key: WithheldChange.Key?, in transaction: any StoreTransaction
  ) throws(SyncError) -> Outcome {
    let entries = try transaction.portion(withheld: entity.type, [.held], after: key)
    var outcome = Outcome()
    outcome.end = entries.last?.key
    let due = entries.filter(isDue)
    if due.isEmpty { return outcome }
    var writer = try EditWriter(
      schema, at: now, maximumClockSkew: options.maximumClockSkew, in: transaction)
    for entry in due {
      guard case .tombstone(let tombstone) = entry.change else { continue }
      let all = try referrers(to: tombstone.id, in: transaction)
      guard let referrers = try deciding(all, in: transaction),
        let rule = try carryOut(tombstone, referrers, &writer)
      else { continue }
      let ids = Set(referrers.map(\.record.id)).sorted()
      outcome.events.append(.targetDeleted(tombstone.id, rule: rule, referrers: ids))
      outcome.types.formUnion(rule == .restoresTarget ? [entity.type] : Set(ids.map(\.type)))
    }
    guard !outcome.types.isEmpty else { return outcome }
    try writer.finish()
    outcome.changed = writer.changed
    return outcome
  }

  /// Whether an earlier sync has held the deletion back.
  private func isDue(_ entry: WithheldChange) -> Bool {
    switch entry.finder {
    case .sync(let found), .push(let found): found < fence
    case .store: entry.since < began
    }
  }

  /// Returns the records whose rules decide; `nil` if there are none, or if what becomes of one is open.
  ///
  /// A record whose own deletion is held goes or stays with the records that refer to it. Two such
  /// records that refer to each other would keep each other for ever.
  private func deciding(
    _ referrers: [Referrer], in transaction: any StoreTransaction
  ) throws(SyncError) -> [Referrer]? {
    let ids = referrers.map(\.record.id)
    let withheld = try transaction.withheld(of: ids)
    let edits = try transaction.outbox(for: ids)
    let drafts = Set(edits.filter { $0.isDraft && $0.base.record == nil }.map(\.id))
    let others = referrers.filter { withheld[$0.record.id]?.kind != .held && decides($0, drafts) }
    return others.isEmpty || withheld.values.contains { $0.kind != .held } ? nil : others
  }

  /// Whether a record may have its rule carried out.
  ///
  /// A record that stays in this store, by its type or as a draft, keeps its target here, and brings it back
  /// on no other device.
  private func decides(_ referrer: Referrer, _ drafts: Set<RecordID>) -> Bool {
    let id = referrer.record.id
    if schema[id.type]?.access != .local, !drafts.contains(id) { return true }
    switch referrer.reference.onDeletion {
    case .keepsTarget, .restoresTarget: return false
    case .clearsReference, .deletesReferrers: return true
    }
  }

  /// Carries out the rule of some references.
  ///
  /// - Returns: The rule; `nil` if everything stays as it is.
  private func carryOut(
    _ tombstone: Tombstone, _ referrers: [Referrer], _ writer: inout EditWriter
  ) throws(SyncError) -> Reference.DeletionRule? {
    let transaction = writer.transaction
    guard let shown = try transaction.records(withIDs: [tombstone.id]).first ?? nil else { return nil }
    let declared = Set(referrers.map(\.reference.onDeletion))
    var rule = Reference.DeletionRule.allCases.first(where: declared.contains) ?? .keepsTarget
    if rule == .keepsTarget { return nil }
    let deleted = referrers.filter { $0.reference.onDeletion == .deletesReferrers }.map(\.record.id)
    // A record that stays for others' sake needs its target, on the other devices too.
    let isNeeded = deleted.isEmpty ? false : try isAnyNeeded(of: tombstone.id, in: transaction)
    if isNeeded || referrers.contains(where: isBound) { rule = .restoresTarget }
    switch rule {
    case .keepsTarget: return nil
    case .restoresTarget: try writer.restore(shown, over: tombstone)
    case .clearsReference, .deletesReferrers:
      for id in Set(deleted).sorted() {
        try writer.edit(id) { (_) throws(SyncError) in .deletion }
      }
      for referrer in referrers where !deleted.contains(referrer.record.id) {
        try writer.edit(referrer.record.id) { (shown) throws(SyncError) in
          guard let shown else { return .deletion }
          guard var fields = try? FieldMap(shown.payload) else {
            return .upsert(shown.payload, schemaVersion: shown.schemaVersion)
          }
          fields[referrer.reference.field] = Array("null".utf8)[...]
          return .upsert(fields.payload, schemaVersion: shown.schemaVersion)
        }
      }
    }
    return rule
  }

  /// Whether a reference that is to be cleared is immutable.
  private func isBound(_ referrer: Referrer) -> Bool {
    let (type, reference) = (referrer.record.id.type, referrer.reference)
    return reference.onDeletion == .clearsReference
      && schema[type]?.immutable.contains(reference.field) ?? false
  }

  /// Whether a record refers to one of those that are to be deleted with a target, however many they are.
  private func isAnyNeeded(
    of target: RecordID, in transaction: any StoreTransaction
  ) throws(SyncError) -> Bool {
    for (type, reference) in references where reference.onDeletion == .deletesReferrers {
      var portions = transaction.portions(
        of: Query(type, where: .equal(reference.field, .string(target.key))))
      while let records = try portions.next() {
        let ids = records.map(\.id).filter { $0 != target }
        let withheld = try transaction.withheld(of: ids)
        if try isAnyReferredTo(ids.filter { withheld[$0]?.kind != .held }, in: transaction) { return true }
      }
    }
    return false
  }

  /// Whether a record refers to one of some others, be it shown or hidden by a clean-up.
  private func isAnyReferredTo(
    _ ids: [RecordID], in transaction: any StoreTransaction
  ) throws(SyncError) -> Bool {
    if try !transaction.referenced(among: ids, by: schema).isEmpty { return true }
    let hidden = HiddenRecords(schema: schema, transaction: transaction)
    for id in ids where try hidden.firstReferring(to: id) != nil { return true }
    return false
  }

  private func referrers(
    to id: RecordID, in transaction: any StoreTransaction
  ) throws(SyncError) -> [Referrer] {
    var found: [Referrer] = []
    for (type, reference) in references {
      let query = Query(type, where: .equal(reference.field, .string(id.key)), limit: Self.limit)
      found += try transaction.records(query).filter { $0.id != id }
        .map { Referrer(record: $0, reference: reference) }
    }
    return found
  }

  /// The ordered references to records of the type, with the types that have them.
  private var references: [(type: RecordType, reference: Reference)] {
    schema.entities.flatMap { other in
      other.references.filter { $0.isOrdered && $0.target == entity.type }.map { (other.type, $0) }
    }
  }
}
