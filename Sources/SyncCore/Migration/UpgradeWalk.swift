public import SyncModels
public import SyncPorts

extension SyncEngine {
  /// Converts the records of older versions by the engine's ``ModelUpgrade``s, once.
  ///
  /// Call it before the app reads. It works in portions of a transaction each. An interrupted upgrade
  /// resumes where it stopped, and a completed one does nothing. Without the call, the next sync does
  /// it first.
  ///
  /// - Parameter token: Requests a stop, which takes effect between portions. Cancelling the task does
  ///   the same.
  /// - Throws: `syncAlreadyInProgress` while a sync runs; `declarationsReplaced`; the store's codes.
  ///   Earlier portions stay.
  /// - Complexity: O(*n*) in the records of the types with upgrades, a portion at a time in memory.
  @discardableResult
  public func upgradeModels(token: (any CancellationToken)? = nil) async throws(SyncError) -> UpgradeReport {
    let (environment, stop) = (environment, StopSignal(token: token))
    let entities = schema.entities
    let isDue = try await environment.store.read { (snapshot) throws(SyncError) in
      try UpgradeWalk.isDue(entities, environment.upgrades, in: snapshot)
    }
    guard isDue else { return UpgradeReport() }
    return try await stop.stopping(clock: environment.clock) { () throws(SyncError) in
      try await LeaseKeeper.hold(environment) { (lease) throws(SyncError) in
        var report = UpgradeReport()
        for entity in entities where environment.upgrades.concern(entity.type) {
          let walk = UpgradeWalk(entity: entity, upgrades: environment.upgrades)
          let end = try await walk.run(until: stop, telling: environment) {
            () throws(SyncError) -> UpgradeWalk.Portion in
            let portion = try await lease.write { (transaction) throws(SyncError) in
              try walk.portion(in: transaction)
            }
            report.converted += portion.converted
            report.failed += portion.failed
            return portion
          }
          report.wasCancelled = end == .stopped
          if report.wasCancelled { break }
        }
        return report
      }
    }
  }
}

/// Converts what the store has, before anything is pushed or merged.
struct UpgradePhase: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      try UpgradeWalk.isDue(session.entities, session.environment.upgrades, in: snapshot)
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    for entity in session.entities where session.environment.upgrades.concern(entity.type) {
      let walk = UpgradeWalk(entity: entity, upgrades: session.environment.upgrades)
      let end = try await walk.run(until: session.stop, telling: session.environment) {
        [session] () throws(SyncError) -> UpgradeWalk.Portion in
        try await session.write { (transaction) throws(SyncError) in try walk.portion(in: transaction) }
      }
      if end == .stopped { return .stopped }
    }
    return .finished
  }
}

/// The walk through everything that the store has of one type, in portions.
struct UpgradeWalk: Sendable {
  let entity: Entity
  let upgrades: ModelUpgrades

  /// What one portion did.
  struct Portion: Sendable {
    var converted = 0
    var failed: [Undecodable] = []
    var changed: [RecordID] = []
    var isLast = false
  }

  /// How far the walk has come.
  private struct Progress: Hashable, Codable, Sendable {
    enum Stage: Int, Codable, Sendable { case rows, edits, withheld, done }

    /// The version to which the walk leads.
    var version: Int
    var stage = Stage.rows
    var key: String?
    var stamp: EditStamp?
    var entry: WithheldChange.Key?
  }

  private static func progressKey(_ type: RecordType) -> ValueKey<Progress> {
    ValueKey(.migrations, "model/\(type)")
  }

  static func isDue(
    _ entities: [Entity], _ upgrades: ModelUpgrades, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Bool {
    for entity in entities where upgrades.concern(entity.type) {
      let progress = try snapshot.value(of: progressKey(entity.type))
      if progress?.version != entity.schemaVersion || progress?.stage != .done { return true }
    }
    return false
  }

  /// Converts one portion after another, and tells of each.
  ///
  /// - Parameter convert: Converts the next portion, in a transaction of its own.
  func run(
    until stop: StopSignal, telling environment: RunEnvironment,
    _ convert: () async throws(SyncError) -> Portion
  ) async throws(SyncError) -> PhaseEnd {
    while !stop.isRaised {
      let portion = try await convert()
      for failure in portion.failed { environment.emit(.undecodable(failure.id, reason: failure.reason)) }
      if !portion.changed.isEmpty { environment.emit(.edited(.records(portion.changed))) }
      if portion.isLast { return .finished }
    }
    return .stopped
  }

  /// Converts the next portion.
  func portion(in transaction: any StoreTransaction) throws(SyncError) -> Portion {
    let name = Self.progressKey(entity.type)
    var progress = try transaction.value(of: name) ?? Progress(version: entity.schemaVersion)
    if progress.version != entity.schemaVersion { progress = Progress(version: entity.schemaVersion) }
    var portion = Portion()
    switch progress.stage {
    case .rows:
      let rows = try transaction.portion(rows: entity.type, .all, after: progress.key)
      try convert(rows.compactMap(\.record), &portion, in: transaction)
      progress.key = rows.last?.id.key
      if rows.count < MergeContext.portion { progress.stage = .edits }
    case .edits:
      let entries = try transaction.portion(outbox: entity.type, after: progress.stamp)
      try convert(entries, &portion, in: transaction)
      progress.stamp = entries.last?.edit.stamp
      if entries.count < MergeContext.portion { progress.stage = .withheld }
    case .withheld:
      let entries = try transaction.portion(
        withheld: entity.type, Set(WithheldChange.Kind.allCases), after: progress.entry)
      try convert(entries, &portion, in: transaction)
      progress.entry = entries.last?.key
      if entries.count < MergeContext.portion { progress.stage = .done }
    case .done:
      break
    }
    portion.isLast = progress.stage == .done
    try transaction.set(progress, for: name)
    return portion
  }

  private func convert(
    _ records: [Record], _ portion: inout Portion, in transaction: any StoreTransaction
  ) throws(SyncError) {
    var converted: [Record] = []
    for record in records {
      guard
        let record = attempt({ () throws(Undecodable) in try upgrades.converted(record, entity) }, &portion)
      else { continue }
      converted.append(record)
    }
    if converted.isEmpty { return }
    // A row under an edit shows the edit, which is in the new form from now on.
    let edits = try transaction.edits(of: converted.map(\.id))
    for place in converted.indices where edits[converted[place].id] != nil {
      converted[place].payload = entity.written(converted[place].payload)
    }
    try transaction.put(converted)
    portion.converted += converted.count
    portion.changed += converted.map(\.id)
  }

  private func convert(
    _ entries: [OutboxEntry], _ portion: inout Portion, in transaction: any StoreTransaction
  ) throws(SyncError) {
    var converted: [OutboxEntry] = []
    for entry in entries {
      var new = entry
      if case .copy(let base) = entry.base,
        let base = attempt({ () throws(Undecodable) in try upgrades.converted(base, entity) }, &portion)
      {
        new.base = .copy(base)
      }
      if let content = attempt(
        { () throws(Undecodable) in try upgrades.converted(entry.edit.content, entry.id, entity) }, &portion)
      {
        new.edit.content = content
        portion.converted += 1
      }
      if new != entry { converted.append(new.withoutFields) }
    }
    if !converted.isEmpty { try transaction.queue(converted) }
  }

  private func convert(
    _ entries: [WithheldChange], _ portion: inout Portion, in transaction: any StoreTransaction
  ) throws(SyncError) {
    var converted: [WithheldChange] = []
    for entry in entries {
      guard case .upsert(let record) = entry.change,
        let record = attempt({ () throws(Undecodable) in try upgrades.converted(record, entity) }, &portion)
      else { continue }
      var entry = entry
      entry.change = .upsert(record)
      converted.append(entry)
    }
    if !converted.isEmpty { try transaction.withhold(converted) }
    portion.converted += converted.count
  }

  /// Converts; a failure is noted.
  private func attempt<Value>(
    _ convert: () throws(Undecodable) -> Value?, _ portion: inout Portion
  ) -> Value? {
    do throws(Undecodable) {
      return try convert()
    } catch {
      portion.failed.append(error)
      return nil
    }
  }
}
