import SyncModels
import SyncPorts

/// The duplicates that arrived after a type's rebuild, by pages or by edits.
///
/// Arrivals are counted in the transaction that brings them, and the end of a sync collapses them.
/// A page or an edit does not collapse them: a later page may hold a record that refers to a loser,
/// and would wait for a record that never comes.
enum ArrivedDuplicates {
  /// Counts an arrival for each type whose changed records share natural keys with others.
  static func remember(
    _ changed: ChangedRecords, of schema: SyncSchema, in transaction: any StoreTransaction
  ) throws(SyncError) {
    for entity in schema.entities where entity.naturalKey != nil {
      var ids: [RecordID]?
      if case .records(let all) = changed {
        let own = all.filter { $0.type == entity.type }
        // Most pages change no record of most types, and need no look at the rebuild's progress.
        if own.isEmpty { continue }
        ids = own
      }
      guard try RebuildProgress.load(for: entity.type, from: transaction)?.isDone ?? false else { continue }
      if let ids, try !areShared(ids, of: entity, in: transaction) { continue }
      let count = try count(of: entity.type, in: transaction)
      try transaction.set(count &+ 1, for: key(for: entity.type))
    }
  }

  /// Returns those of some edited records that have duplicates to which their edits will go.
  ///
  /// The remote has deleted the records, most often because another device has collapsed the group.
  static func heirs(
    of edits: [MetEdit], _ entity: Entity, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Set<RecordID> {
    guard entity.naturalKey != nil,
      try RebuildProgress.load(for: entity.type, from: snapshot)?.isDone ?? false
    else { return [] }
    var heirs: Set<RecordID> = []
    for edit in edits where edit.entry.author == .app && edit.entry.base.record != nil {
      guard case .live(let record) = edit.entry.row(of: entity) else { continue }
      if try areShared([record.id], of: entity, in: snapshot) { heirs.insert(record.id) }
    }
    return heirs
  }

  /// Returns the one record that has the natural key of a record that is gone, and takes its edits.
  static func heir(
    of id: RecordID, readAs payload: Payload, _ entity: Entity, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> RecordID? {
    guard try RebuildProgress.load(for: entity.type, from: snapshot)?.isDone ?? false,
      let fields = try? entity.fields(of: payload)
    else { return nil }
    let former = Record(id: id, version: .unversioned, payload: payload, fields: fields)
    guard let key = entity.naturalKey(of: former) else { return nil }
    let found = try snapshot.records(ofType: entity.type, withNaturalKeys: [key]).flatMap(\.self)
    return found.count == 1 ? found[0].id : nil
  }

  /// Returns the number of arrivals that were not collapsed.
  static func count(of type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) -> Int64 {
    try snapshot.value(of: key(for: type)) ?? 0
  }

  /// Removes the count of a type.
  static func forget(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.remove(key(for: type))
  }

  private static func areShared(
    _ ids: [RecordID], of entity: Entity, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Bool {
    let records = try snapshot.records(withIDs: ids)
    let keys = records.compactMap { $0.flatMap { entity.naturalKey(of: $0) } }.distinctByUTF8()
    guard !keys.isEmpty else { return false }
    return try snapshot.records(ofType: entity.type, withNaturalKeys: keys).contains { $0.count > 1 }
  }

  private static func key(for type: RecordType) -> ValueKey<Int64> { ValueKey(.rebuilds, "\(type)/arrived") }
}

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
      let end = try await session.stop.walk { [session] (start) throws(SyncError) in
        try await FormerWrites.forgetStale(entity.type, after: start, in: session)
      }
      if end == .stopped { return .stopped }
    }
    return .finished
  }

  private func collapse(
    _ entity: Entity, in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    let (environment, type) = (session.environment, entity.type)
    let due = try await session.read { (snapshot) throws(SyncError) -> (arrivals: Int64, RebuildOptions)? in
      let arrivals = try ArrivedDuplicates.count(of: type, in: snapshot)
      guard arrivals != 0,
        // A newer rebuild collapses and counts the duplicates that arrived before it began.
        let progress = try RebuildProgress.load(for: type, from: snapshot), progress.isDone
      else { return nil }
      let pull = CompletePull(of: entity, in: environment, store: try snapshot.storeIdentity())
      return try pull.lack(in: snapshot) == nil ? (arrivals, progress.options) : nil
    }
    guard let (arrivals, options) = due else { return .finished }
    let collapse = Collapse(entity, options, in: environment)
    var machine = RebuildMachine(arrivalsWith: options)
    var action = machine.start()
    while true {
      if session.isStopped { return .stopped }
      switch action {
      case .plan(let key, let limit):
        action = machine.found(
          try await session.read { (snapshot) throws(SyncError) in
            try snapshot.portion(duplicates: type, after: key, limit: limit)
          })
      case .collapse(let groups):
        let step = try await session.write { [machine] (transaction) throws(SyncError) in
          try collapse.step(machine, groups, in: transaction)
        }
        (machine, action) = (step.machine, step.action)
        session.report(step.tally, of: type)
        session.progress.countCollapsed(step.changed, of: type)
        if !step.changed.isEmpty { environment.emit(.edited(step.changed)) }
      case .finish:
        guard machine.progress.isDone else { return .finished }
        try await session.write { (transaction) throws(SyncError) in
          // Duplicates that re-pointing made are due at the next sync.
          guard try ArrivedDuplicates.count(of: type, in: transaction) == arrivals else { return }
          try ArrivedDuplicates.forget(type, in: transaction)
        }
        return .finished
      }
    }
  }
}
