import SyncModels
import SyncPorts
import Synchronization

/// Performs the steps of a ``RebuildMachine``.
///
/// Each step is a short transaction that also saves the progress. A dry run takes the same steps
/// without a lease, and rolls each one back.
struct RebuildRun {
  let environment: RunEnvironment
  let entity: Entity
  let version: Int
  let options: RebuildOptions
  let isDryRun: Bool
  let stop: StopSignal

  func perform() async throws(SyncError) -> RebuildReport {
    guard !isDryRun else { return try await run(under: nil) }
    return try await LeaseKeeper.hold(environment) { (lease) throws(SyncError) in
      try await run(under: lease)
    }
  }

  /// Runs step after step until the end, or until a request to stop.
  ///
  /// - Parameter lease: The lease to write under; `nil` for a dry run.
  private func run(under lease: LeaseKeeper?) async throws(SyncError) -> RebuildReport {
    var machine = try await machine()
    guard !machine.progress.isDone else { return try await report(machine) { $0.wasDone = true } }
    var action = machine.start()
    while action != .finish {
      if stop.isRaised { return try await report(machine) { $0.wasCancelled = true } }
      switch action {
      case .plan(let key, let limit): action = machine.found(try await groups(after: key, limit: limit))
      case .collapse(let groups):
        let step = try await collapse(groups, machine, under: lease)
        (machine, action) = (step.machine, step.action)
      case .finish: break
      }
    }
    if let lease {
      let (progress, type) = (machine.progress, entity.type)
      try await lease.write { (transaction) throws(SyncError) in
        try progress.save(for: type, in: transaction)
      }
    }
    return try await report(machine)
  }

  private func collapse(
    _ groups: [DuplicateGroup], _ machine: RebuildMachine, under lease: LeaseKeeper?
  ) async throws(SyncError) -> Collapse.Step {
    let (collapse, type) = (Collapse(entity, options, in: environment), entity.type)
    guard let lease else {
      return try await environment.store.rehearse { (transaction) throws(SyncError) in
        try transaction.demandDecision(by: environment.schema)
        var step = try collapse.step(machine, groups, in: transaction)
        // The step before is gone with its transaction, so this one takes all that belong together.
        while step.isRepeated { step = try collapse.step(step.machine, groups, in: transaction) }
        return step
      }
    }
    let step = try await lease.write { (transaction) throws(SyncError) in
      let step = try collapse.step(machine, groups, in: transaction)
      try step.machine.progress.save(for: type, in: transaction)
      return step
    }
    environment.emitChanges(step.tally, of: type)
    if !step.changed.isEmpty { environment.emit(.edited(step.changed)) }
    return step
  }

  // MARK: Reading

  private func machine() async throws(SyncError) -> RebuildMachine {
    let (environment, entity, version, options) = (environment, entity, version, options)
    return try await environment.store.read { (snapshot) throws(SyncError) in
      let pull = CompletePull(of: entity, in: environment, store: try snapshot.storeIdentity())
      let machine = RebuildMachine(
        version: version, options: options,
        earlier: try RebuildProgress.load(for: entity.type, from: snapshot),
        live: try snapshot.count(Query(entity.type)))
      if machine.progress.isDone { return machine }
      try snapshot.demandDecision(by: environment.schema)
      if let lack = try pull.lack(in: snapshot) {
        throw SyncError(
          .pullIncomplete, during: "collapsing duplicates of \(entity.type)", "\(lack) Sync first.")
      }
      return machine
    }
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

/// Whether a type and all types that refer to it are completely pulled.
///
/// Permanent decisions about records, such as their deletion, require this.
struct CompletePull: Sendable {
  private let scopes: [(type: RecordType, scope: Checkpoint.Scope)]

  init(of entity: Entity, in environment: RunEnvironment, store identity: String) {
    scopes = environment.schema.entities.filter { other in
      other.type == entity.type || other.references.contains { $0.target == entity.type }
    }.map { ($0.type, environment.scope(of: $0, store: identity)) }
  }

  /// Returns what is still missing; `nil` if nothing is.
  func lack(in snapshot: any StoreSnapshot) throws(SyncError) -> String? {
    for (type, scope) in scopes {
      guard let checkpoint = try snapshot.checkpoint(for: type), checkpoint.scope == scope,
        checkpoint.committedAt != nil, checkpoint.lastPass > 0
      else { return "\(type) was never pulled completely." }
      if checkpoint.inFlight != nil { return "A pull of \(type) was interrupted." }
      if checkpoint.sweep != nil {
        return "Records of \(type) that are gone from the remote are still to be removed."
      }
    }
    return nil
  }
}

extension LocalStore {
  /// Runs a transaction for its result, and rolls it back.
  fileprivate func rehearse<R: Sendable>(
    _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let result = Mutex<R?>(nil)
    do throws(SyncError) {
      return try await write(.app) { (transaction) throws(SyncError) -> R in
        result.withLock { $0 = nil }
        let value = try body(transaction)
        result.withLock { $0 = value }
        throw SyncError(.cancelled, during: "rolling a dry run back")
      }
    } catch {
      if let result = result.withLock({ $0 }) { return result }
      throw error
    }
  }
}
