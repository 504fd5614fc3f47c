import SyncModels
import SyncPorts

/// Brings stored records in line with changed declarations, in portions.
///
/// Before the pulls it releases parked copies that no longer need to wait. After the pulls it
/// withholds records that refer to absent ones. The order matters because a type that is declared
/// together with a reference to it has no records before its first pull.
struct DeclarationPhase {
  let environment: RunEnvironment
  let lease: Lease
  let stop: StopSignal
  private let now: Timestamp
  /// The progress of the sync so far.
  var progress: SyncProgress

  init(environment: RunEnvironment, lease: Lease, stop: StopSignal, progress: SyncProgress) {
    self.environment = environment
    self.lease = lease
    self.stop = stop
    now = environment.clock.timestamp
    self.progress = progress
  }

  // MARK: Before the pulls

  /// Releases the copies that changed declarations no longer withhold.
  ///
  /// - Returns: Whether all was done; `false` after a request to stop. The rest is due at the next
  ///   sync.
  mutating func release() async throws(SyncError) -> Bool {
    let (schema, now) = (environment.schema, now)
    if try await stored()?.isInLine(with: schema, at: now) ?? false { return true }
    try await update { $0.begin(schema, at: now) }
    for entity in schema.entities {
      guard let stored = try await stored(), let change = stored.change(to: entity, at: now) else {
        continue
      }
      let progress = stored.progress(of: entity)
      if !progress.isReleased {
        if change.releases, try await !releaseParked(of: entity, after: progress.after) { return false }
        try await endRelease(of: entity, change)
      }
      if !change.withholds { try await update { $0.finish(entity) } }
    }
    return true
  }

  private func endRelease(of entity: Entity, _ change: DeclarationChange) async throws(SyncError) {
    try await write { (transaction) throws(SyncError) in
      // A rebuild by another natural key does not count: the app's next one does it anew.
      if change.voidsRebuild { try RebuildProgress.forget(for: entity.type, in: transaction) }
      try StoredDeclarations.update(in: transaction) { stored in
        if change.releases { stored.noteReleased(entity) }
        stored.note(
          StoredDeclarations.Progress(shape: DeclaredShape(entity), isReleased: true), of: entity)
      }
    }
  }

  /// Merges the parked copies of a type again.
  ///
  /// Each of them is shown, or parked for the records that it needs now.
  private mutating func releaseParked(
    of entity: Entity, after: String?, notesProgress: Bool = true
  ) async throws(SyncError) -> Bool {
    let (environment, fence) = (environment, lease.fence)
    var last = after.map { WithheldChange.Key.record(RecordID(type: entity.type, key: $0)) }
    repeat {
      if stop.isRaised { return false }
      let start = last
      let (tally, end) = try await write { (transaction) throws(SyncError) in
        let entries = try transaction.portion(withheld: entity.type, [.parked], after: start)
        let markPass = try transaction.checkpoint(for: entity.type)?.markPass
        var merge = PageMerge(entity, context: environment.releaseContext(fence: fence, markPass: markPass))
        if !entries.isEmpty { try merge.release(entries, in: transaction) }
        try ArrivedDuplicates.note(merge.tally.changed, of: environment.schema, in: transaction)
        if case .record(let id)? = entries.last?.key, notesProgress {
          try StoredDeclarations.update(in: transaction) { stored in
            stored.note(StoredDeclarations.Progress(shape: DeclaredShape(entity), after: id.key), of: entity)
          }
        }
        return (merge.tally, entries.last?.key)
      }
      note(tally, of: entity.type)
      last = end
    } while last != nil
    return true
  }

  // MARK: After the pulls

  /// Withholds the records whose references dangle by changed declarations.
  ///
  /// - Returns: Whether all was done; `false` after a request to stop. The rest is due at the next
  ///   sync.
  mutating func withhold() async throws(SyncError) -> Bool {
    guard let stored = try await stored() else { return true }
    if !stored.left.isEmpty, try await !withholdLeft(stored.left) { return false }
    for entity in environment.schema.entities {
      guard let change = stored.change(to: entity, at: now), change.withholds,
        try await isComplete(entity)
      else { continue }
      guard try await withhold(entity) else { return false }
      try await update { $0.finish(entity) }
    }
    return true
  }

  /// Whether a type and its dependencies have been listed once, without staged records.
  private func isComplete(_ entity: Entity) async throws(SyncError) -> Bool {
    let types = environment.schema.dependencies(of: entity) + [entity.type]
    return try await environment.store.read { (snapshot) throws(SyncError) in
      for type in types where try snapshot.checkpoint(for: type)?.committedAt == nil { return false }
      return try snapshot.withheldCounts(entity.type)[.staged, default: 0] == 0
    }
  }

  private mutating func withhold(_ entity: Entity) async throws(SyncError) -> Bool {
    let environment = environment
    var last = try await stored()?.progress(of: entity).after
    let wasBegun = last != nil
    repeat {
      if stop.isRaised { return false }
      let start = last
      let (dangling, end) = try await write { (transaction) throws(SyncError) in
        let records = try transaction.portion(
          of: Query(entity.type, afterKey: start, limit: MergeContext.portion))
        let withholding = Withholding(schema: environment.schema, transaction: transaction)
        return (try withholding.dangling(among: records), records.last?.id.key)
      }
      guard try await withhold(dangling) else { return false }
      last = end
      try await update { stored in
        stored.note(
          StoredDeclarations.Progress(shape: DeclaredShape(entity), isReleased: true, after: end), of: entity)
      }
    } while last != nil
    // Copies that an interrupted round withheld may have lost their reason to wait before this
    // round began.
    guard wasBegun else { return true }
    for entity in environment.schema.entities {
      guard try await releaseParked(of: entity, after: nil, notesProgress: false) else { return false }
    }
    return true
  }

  private mutating func withholdLeft(_ ids: [RecordID]) async throws(SyncError) -> Bool {
    let environment = environment
    for ids in ids.portions(of: MergeContext.portion) {
      let dangling = try await write { (transaction) throws(SyncError) in
        let edited = Set(try transaction.outbox(for: ids).map(\.id))
        let records = try transaction.records(withIDs: ids.filter { !edited.contains($0) })
        return try Withholding(schema: environment.schema, transaction: transaction)
          .dangling(among: records.compactMap(\.self))
      }
      guard try await withhold(dangling) else { return false }
      try await write { (transaction) throws(SyncError) in
        let done = Set(ids).subtracting(try transaction.outbox(for: ids).map(\.id))
        try StoredDeclarations.update(in: transaction) { $0.left.removeAll(where: done.contains) }
      }
    }
    return true
  }

  /// Withholds records, after those that refer to them.
  private mutating func withhold(_ ids: [RecordID]) async throws(SyncError) -> Bool {
    guard !ids.isEmpty else { return true }
    let (environment, fence) = (environment, lease.fence)
    var rounds = ids.portions(of: MergeContext.portion)
    var done: Set<RecordID> = []
    while let round = rounds.last {
      if stop.isRaised { return false }
      let above = Set(rounds.joined())
      let known = done
      let outcome = try await write { (transaction) throws(SyncError) in
        let withholding = Withholding(schema: environment.schema, transaction: transaction)
        let referrers = try withholding.referrers(to: round, except: above.union(known))
        if !referrers.isEmpty { return Withholding.Outcome(referrers: referrers) }
        // No remote sent what a changed declaration withholds.
        var context = environment.releaseContext(fence: fence, markPass: nil)
        context.finder = .store
        return try withholding.withhold(round, beside: above, context: context)
      }
      if outcome.referrers.isEmpty {
        rounds.removeLast()
        done.formUnion(round)
      } else {
        rounds.append(outcome.referrers)
      }
      note(outcome.tally, of: round[0].type)
    }
    return true
  }

  // MARK: Stored state

  private func stored() async throws(SyncError) -> StoredDeclarations? {
    try await environment.store.read { (snapshot) throws(SyncError) in
      try StoredDeclarations.load(from: snapshot)
    }
  }

  private func write<R: Sendable>(
    _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await environment.store.write(.lease(lease), body)
  }

  private func update(_ change: @Sendable (inout StoredDeclarations) -> Void) async throws(SyncError) {
    try await write { (transaction) throws(SyncError) in
      try StoredDeclarations.update(in: transaction, change)
    }
  }

  private mutating func note(_ tally: Tally, of type: RecordType) {
    progress.note(tally)
    environment.emitChanges(tally, of: type)
  }
}
