import SyncModels
import SyncPorts

/// Withholds the records whose references dangle by changed declarations, after the pulls.
///
/// ``DeclarationRelease`` comes before the pulls.
struct DeclarationWithholding: SyncPhase {
  var survey: Survey? {
    { (snapshot, _) throws(SyncError) in
      let stored = try StoredDeclarations.load(from: snapshot)
      return !stored.left.isEmpty || stored.types.contains(where: \.withholds)
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let stored = try await session.read { (snapshot) throws(SyncError) in
      try StoredDeclarations.load(from: snapshot)
    }
    if try await withholdLeft(stored.left, in: &session) == .stopped { return .stopped }
    for entity in session.schema.entities {
      guard let known = stored.known(entity.type), known.withholds, try await isComplete(entity, in: session)
      else { continue }
      if try await withhold(entity, known.withholding, in: &session) == .stopped { return .stopped }
    }
    return .finished
  }

  /// Whether a type and its dependencies have been listed once, without staged records.
  private func isComplete(_ entity: Entity, in session: SyncSession) async throws(SyncError) -> Bool {
    let types = session.schema.dependencies(of: entity) + [entity.type]
    return try await session.read { (snapshot) throws(SyncError) in
      for type in types where try snapshot.checkpoint(for: type)?.committedAt == nil { return false }
      return try snapshot.withheldCounts(entity.type)[.staged, default: 0] == 0
    }
  }

  /// Withholds the records of a type whose references dangle.
  private func withhold(
    _ entity: Entity, _ begun: StoredDeclarations.Walk?, in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    let (schema, type) = (session.schema, entity.type)
    var last = begun?.after
    while true {
      if session.isStopped { return .stopped }
      let start = last
      let (dangling, end) = try await session.write { (transaction) throws(SyncError) in
        if start == nil {
          try StoredDeclarations.update(in: transaction) {
            $0.setWithholding(StoredDeclarations.Walk(), of: type)
          }
        }
        let records = try transaction.portion(
          of: Query(type, afterKey: start, limit: MergeContext.portion))
        let withholding = Withholding(schema: schema, transaction: transaction)
        return (try withholding.dangling(among: records), records.last?.id.key)
      }
      if try await withhold(dangling, in: &session) == .stopped { return .stopped }
      guard let end else { break }
      last = end
      let isInterrupted = try await session.write { (transaction) throws(SyncError) in
        try StoredDeclarations.update(in: transaction) { stored in
          guard stored.known(type)?.withholding != nil else { return true }
          stored.setWithholding(StoredDeclarations.Walk(after: end), of: type)
          return false
        }
      }
      // Another engine's edits are checked from the first record on, by the next sync.
      if isInterrupted { return .finished }
    }
    // Copies that an interrupted round withheld may have lost their reason to wait before this
    // round began.
    if begun != nil {
      for entity in schema.entities {
        if try await session.releaseParked(of: entity) == .stopped { return .stopped }
      }
    }
    try await session.write { (transaction) throws(SyncError) in
      try StoredDeclarations.update(in: transaction) { $0.finishWithholding(of: type) }
    }
    return .finished
  }

  /// Withholds those of the records left because of their edits that have none any more.
  private func withholdLeft(
    _ ids: [RecordID], in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    let (schema, environment, fence) = (session.schema, session.environment, session.fence)
    for ids in ids.portions(of: MergeContext.portion) {
      let dangling = try await session.write { (transaction) throws(SyncError) in
        let withholding = Withholding(schema: schema, transaction: transaction)
        let edited = try withholding.edited(among: ids)
        let records = try transaction.records(withIDs: ids.filter { !edited.contains($0) })
        return try withholding.dangling(among: records.compactMap(\.self))
      }
      if try await withhold(dangling, in: &session) == .stopped { return .stopped }
      let tally = try await session.write { (transaction) throws(SyncError) in
        let withholding = Withholding(schema: schema, transaction: transaction)
        // A record also stays while one with an edit refers to it.
        let dangling = try withholding.dangling(among: transaction.records(withIDs: ids).compactMap(\.self))
        let done = Set(ids).subtracting(try transaction.outbox(for: ids).map(\.id)).subtracting(dangling)
        try StoredDeclarations.update(in: transaction) { $0.forget(done) }
        let context = environment.releaseContext(fence: fence, markPass: nil)
        return try withholding.release(above: ids, context: context)
      }
      session.report(tally, of: ids[0].type)
    }
    return .finished
  }

  /// Withholds records, after those that refer to them.
  private func withhold(
    _ ids: [RecordID], in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    guard !ids.isEmpty else { return .finished }
    let (schema, environment, fence) = (session.schema, session.environment, session.fence)
    var rounds = ids.portions(of: MergeContext.portion)
    var (done, needed): (Set<RecordID>, Set<RecordID>) = ([], [])
    while let round = rounds.last {
      if session.isStopped { return .stopped }
      let above = Set(rounds.joined())
      let (known, kept) = (done, needed)
      let outcome = try await session.write { (transaction) throws(SyncError) in
        let withholding = Withholding(schema: schema, transaction: transaction)
        let referrers = try withholding.referrers(to: round, except: above.union(known))
        if !referrers.isEmpty { return Withholding.Outcome(referrers: referrers) }
        let context = environment.releaseContext(fence: fence, markPass: nil)
        return try withholding.withhold(round, beside: above, without: kept, context: context)
      }
      needed.formUnion(outcome.needed)
      if outcome.referrers.isEmpty {
        rounds.removeLast()
        done.formUnion(round)
      } else {
        rounds.append(outcome.referrers)
      }
      session.report(outcome.tally, of: round[0].type)
    }
    return .finished
  }
}

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
      try StoredDeclarations.update(in: transaction) { $0.leave(left) }
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
          // No remote sent what a changed declaration withholds.
          .parked(
            found.record, waitingFor: found.missing,
            pass: checkpoint?.lastPass(ofRowMarked: state?.isMarked ?? false) ?? 0, finder: .store,
            since: context.now)
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
