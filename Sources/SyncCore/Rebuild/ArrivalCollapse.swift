import SyncModels
import SyncPorts

/// Collapses the duplicates that a sync brought, at the end of the sync.
///
/// It covers types whose rebuild is done. Where another version of the app has registered another
/// natural key since, duplicates stay due until this version starts again.
struct ArrivalCollapse: SyncPhase {
  var survey: Survey? {
    { (_, session) throws(SyncError) in session.entities.contains { $0.naturalKey != nil } }
  }

  /// Collapses the duplicates that are due.
  ///
  /// Groups that cannot be judged yet stay due.
  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    for entity in session.entities where entity.naturalKey != nil {
      if try await collapse(entity, in: &session) == .stopped { return .stopped }
      if try await forgetStale(entity.type, in: session) == .stopped { return .stopped }
    }
    return .finished
  }

  /// Removes the kept write stamps of records that were written since or are gone.
  private func forgetStale(
    _ type: RecordType, in session: SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    try await session.stop.walk { (start) throws(SyncError) in
      let (keys, next) = try await session.read { (snapshot) throws(SyncError) in
        try FormerWrites.stale(type, after: start, in: snapshot)
      }
      if !keys.isEmpty {
        try await session.write { (transaction) throws(SyncError) in
          for key in keys { try transaction.remove(key) }
        }
      }
      return next
    }
  }

  private func collapse(
    _ entity: Entity, in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    let environment = session.environment
    let plan = try await session.read {
      (snapshot) throws(SyncError) -> (ArrivedDuplicates, RebuildOptions)? in
      guard let due = try ArrivedDuplicates.load(for: entity.type, from: snapshot),
        // A newer rebuild collapses and counts the duplicates that arrived before it began.
        let progress = try RebuildProgress.load(for: entity.type, from: snapshot), progress.isDone,
        try snapshot.findsDuplicates(of: entity)
      else { return nil }
      let pull = CompletePull(of: entity, in: environment, store: try snapshot.storeIdentity())
      return try pull.lack(in: snapshot) == nil ? (due, progress.options) : nil
    }
    guard let (found, options) = plan else { return .finished }
    var due = found
    let collapse = Collapse(
      entity: entity, schema: environment.schema, options: options, now: environment.clock.timestamp,
      maximumClockSkew: environment.edits.maximumClockSkew)
    let limit = max(1, options.recordsAtOnce / 2)
    var last: String?
    var postponed: [String] = []
    while true {
      if session.isStopped { return .stopped }
      let keys =
        due.areMany
        ? try await keys(of: entity, after: last, limit, in: session) : Array(due.keys.prefix(limit))
      var rest = due
      if due.areMany {
        rest.areMany = !keys.isEmpty
      } else {
        rest.keys.removeFirst(keys.count)
      }
      guard let (outcome, noted) = try await write(collapse, keys, due, rest, postponed, in: session) else {
        return .finished
      }
      session.progress.noteCollapsed(outcome.changed, of: entity.type)
      if !outcome.changed.isEmpty { environment.emit(.edited(outcome.changed)) }
      postponed = (postponed + outcome.postponed + noted).distinctByUTF8()
      if outcome.isComplete { (due, last) = (rest, keys.last) }
      if due.keys.isEmpty && !due.areMany { return .finished }
    }
  }

  /// Collapses some groups, and saves what is due then.
  ///
  /// - Returns: `nil` if another version of the app has registered its own natural key meanwhile.
  private func write(
    _ collapse: Collapse, _ keys: [String], _ due: ArrivedDuplicates, _ rest: ArrivedDuplicates,
    _ postponed: [String], in session: SyncSession
  ) async throws(SyncError) -> (outcome: Collapse.Outcome, noted: [String])? {
    try await session.write { (transaction) throws(SyncError) in
      guard try transaction.findsDuplicates(of: collapse.entity) else { return nil }
      // Duplicates that re-pointing creates are noted like any others, and are due at the next
      // sync.
      try ArrivedDuplicates().save(for: collapse.entity.type, in: transaction)
      let outcome = try collapse.run(
        keys, try transaction.records(ofType: collapse.entity.type, withNaturalKeys: keys), in: transaction)
      // References that were too many for one transaction continue in the next.
      var left = outcome.isComplete ? rest : due
      let noted = try ArrivedDuplicates.load(for: collapse.entity.type, from: transaction)
      let keys = noted?.keys ?? []
      left.areMany = left.areMany || noted?.areMany ?? false
      left.add(postponed + outcome.postponed + keys)
      try left.save(for: collapse.entity.type, in: transaction)
      return (outcome, keys)
    }
  }

  private func keys(
    of entity: Entity, after key: String?, _ limit: Int, in session: SyncSession
  ) async throws(SyncError) -> [String] {
    try await session.read { (snapshot) throws(SyncError) in
      try snapshot.portion(duplicates: entity.type, after: key, limit: limit).map(\.key)
    }
  }
}
