import SyncModels
import SyncPorts

/// Performs the steps of a ``RebuildMachine``.
///
/// Each step is a short transaction that also saves the progress.
struct RebuildRun {
  let environment: RunEnvironment
  let entity: Entity
  let version: Int
  let options: RebuildOptions
  let isDryRun: Bool
  let stop: StopSignal

  private typealias Step = (machine: RebuildMachine, action: RebuildMachine.Action)

  func perform() async throws(SyncError) -> RebuildReport {
    guard !isDryRun else { return try await survey() }
    return try await LeaseKeeper.hold(environment) { (lease) throws(SyncError) in
      try await rebuild(lease)
    }
  }

  private func rebuild(_ lease: LeaseKeeper) async throws(SyncError) -> RebuildReport {
    try await walk { (action, machine) throws(SyncError) in
      switch action {
      case .collapse(let groups): return try await collapse(groups, machine, lease)
      case .complete:
        let (progress, type) = (machine.progress, entity.type)
        try await lease.write { (transaction) throws(SyncError) in
          try progress.save(for: type, in: transaction)
        }
        return (machine, machine.completed())
      case .plan, .finish: return (machine, .finish)
      }
    }
  }

  /// Runs the steps without writing.
  private func survey() async throws(SyncError) -> RebuildReport {
    let (collapse, type) = (collapse, entity.type)
    return try await walk { (action, machine) throws(SyncError) in
      guard case .collapse(let groups) = action else { return (machine, .finish) }
      let counts = try await environment.store.read { (snapshot) throws(SyncError) in
        try collapse.survey(
          groups.map(\.key), try snapshot.records(ofType: type, in: groups), in: snapshot)
      }
      var next = machine
      let action = next.collapsed(counts, isComplete: true)
      return (next, action)
    }
  }

  /// Runs step after step until the end, or until a request to stop.
  ///
  /// - Parameter act: Performs the steps that may write.
  private func walk(
    _ act: (RebuildMachine.Action, RebuildMachine) async throws(SyncError) -> Step
  ) async throws(SyncError) -> RebuildReport {
    var machine = try await machine()
    guard !machine.progress.isDone else { return try await report(machine) { $0.wasDone = true } }
    var action = machine.start()
    while action != .finish {
      if stop.isRaised { return try await report(machine) { $0.wasCancelled = true } }
      if case .plan(let key, let limit) = action {
        action = machine.found(try await groups(after: key, limit: limit))
      } else {
        (machine, action) = try await act(action, machine)
      }
    }
    return try await report(machine)
  }

  private func collapse(
    _ groups: [DuplicateGroup], _ machine: RebuildMachine, _ lease: LeaseKeeper
  ) async throws(SyncError) -> Step {
    let (collapse, type) = (collapse, entity.type)
    let (step, changed) = try await lease.write { (transaction) throws(SyncError) in
      try demandNaturalKey(in: transaction)
      let outcome = try collapse.run(
        groups.map(\.key), try transaction.records(ofType: type, in: groups), in: transaction)
      var next = machine
      let action = next.collapsed(outcome.counts, isComplete: outcome.isComplete)
      try next.progress.save(for: type, in: transaction)
      return ((next, action), outcome.changed)
    }
    if !changed.isEmpty { environment.emit(.edited(changed)) }
    return step
  }

  // MARK: Reading

  private var collapse: Collapse {
    Collapse(
      entity: entity, schema: environment.schema, options: options, now: environment.clock.timestamp,
      maximumClockSkew: environment.edits.maximumClockSkew)
  }

  private func machine() async throws(SyncError) -> RebuildMachine {
    let (environment, entity, version, options) = (environment, entity, version, options)
    return try await environment.store.read { (snapshot) throws(SyncError) in
      let pull = CompletePull(of: entity, in: environment, store: try snapshot.storeIdentity())
      let machine = RebuildMachine(
        version: version, options: options,
        earlier: try RebuildProgress.load(for: entity.type, from: snapshot),
        live: try snapshot.count(Query(entity.type)))
      if machine.progress.isDone { return machine }
      try demandNaturalKey(in: snapshot)
      if let lack = try pull.lack(in: snapshot) {
        throw SyncError(
          .pullIncomplete, during: "collapsing duplicates of \(entity.type)", "\(lack) Sync first.")
      }
      return machine
    }
  }

  /// Throws if the store finds duplicates by another version's natural key.
  private func demandNaturalKey(in snapshot: any StoreSnapshot) throws(SyncError) {
    guard try !snapshot.findsDuplicates(of: entity) else { return }
    throw SyncError(
      .invalidConfiguration, during: "collapsing duplicates of \(entity.type)",
      """
      Another version of the app has registered another natural key since. What was collapsed before stays; \
      start this version again to go on by its own key.
      """)
  }

  private func groups(after key: String?, limit: Int) async throws(SyncError) -> [DuplicateGroup] {
    let type = entity.type
    return try await environment.store.read { (snapshot) throws(SyncError) in
      try snapshot.portion(duplicates: type, after: key, limit: limit)
    }
  }

  private func report(
    _ machine: RebuildMachine, _ amend: (inout RebuildReport) -> Void = { _ in }
  ) async throws(SyncError) -> RebuildReport {
    let type = entity.type
    let live = try await environment.store.read { (snapshot) throws(SyncError) in
      try snapshot.count(Query(type))
    }
    var report = RebuildReport(
      type: type, version: version, recordsBefore: machine.progress.recordsBefore, recordsAfter: live,
      counts: machine.progress.counts)
    report.isDryRun = isDryRun
    amend(&report)
    if report.wasDone {
      report.recordsBefore = live
      report.counts = RebuildReport.Counts()
    } else if isDryRun {
      report.recordsAfter = live - machine.progress.counts.losers
    }
    return report
  }
}

extension StoreSnapshot {
  /// Whether the store finds a type's duplicates by the declared natural key.
  ///
  /// It does not if another version of the app has registered its own key since.
  func findsDuplicates(of entity: Entity) throws(SyncError) -> Bool {
    try registeredEntities().contains { $0.type == entity.type && $0.naturalKey == entity.naturalKey }
  }
}
