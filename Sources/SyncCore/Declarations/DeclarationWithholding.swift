import SyncModels
import SyncPorts

/// Withholds the records whose references dangle by changed declarations, after the pulls.
///
/// ``DeclarationRelease`` comes before the pulls.
struct DeclarationWithholding: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      guard let stored = try StoredDeclarations.load(from: snapshot) else { return false }
      let now = session.environment.clock.timestamp
      return !stored.left.isEmpty
        || session.schema.entities.contains { stored.change(to: $0, at: now)?.withholds ?? false }
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    guard let stored = try await session.declarations() else { return .finished }
    if try await withholdLeft(stored.left, in: &session) == .stopped { return .stopped }
    let now = session.environment.clock.timestamp
    for entity in session.schema.entities {
      guard let change = stored.change(to: entity, at: now), change.withholds,
        try await isComplete(entity, in: session)
      else { continue }
      if try await withhold(entity, in: &session) == .stopped { return .stopped }
      try await session.updateDeclarations { $0.finish(entity) }
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
    _ entity: Entity, in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    let schema = session.schema
    var last = try await session.declarations()?.progress(of: entity).after
    let wasBegun = last != nil
    repeat {
      if session.isStopped { return .stopped }
      let start = last
      let (dangling, end) = try await session.write { (transaction) throws(SyncError) in
        let records = try transaction.portion(
          of: Query(entity.type, afterKey: start, limit: MergeContext.portion))
        let withholding = Withholding(schema: schema, transaction: transaction)
        return (try withholding.dangling(among: records), records.last?.id.key)
      }
      if try await withhold(dangling, in: &session) == .stopped { return .stopped }
      last = end
      try await session.updateDeclarations { stored in
        stored.note(
          StoredDeclarations.Progress(shape: DeclaredShape(entity), isReleased: true, after: end), of: entity)
      }
    } while last != nil
    // Copies that an interrupted round withheld may have lost their reason to wait before this
    // round began.
    guard wasBegun else { return .finished }
    for entity in schema.entities {
      let end = try await session.releaseParked(of: entity, after: nil, notesProgress: false)
      if end == .stopped { return .stopped }
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
        try StoredDeclarations.update(in: transaction) { $0.left.removeAll(where: done.contains) }
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
