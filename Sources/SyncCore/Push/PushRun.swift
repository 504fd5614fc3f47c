import SyncModels
import SyncPorts

/// Runs one push: carries out the machine's steps, one at a time, under the sync's lease.
///
/// It can be stopped between any two steps. A batch that is being sent then is abandoned and stays
/// prepared: the next push sends it again unchanged.
struct PushRun {
  let environment: RunEnvironment
  let sink: any RemoteRecordSink
  let stop: StopSignal
  let lease: Lease
  private(set) var progress: SyncProgress
  private(set) var wasStopped = false
  /// The error that ended the push.
  private(set) var failure: SyncError?
  /// Edits that failed alone, if no edit has shown that the remote is there.
  private var suspects: [EditSearch.Suspect] = []
  private var wasAskedToWait = false

  /// The types that have edits to push.
  private(set) var types: [RecordType] = []

  /// The types whose edits the remote rejected altogether, whatever their content.
  private(set) var deniedTypes: Set<RecordType> = []

  private var counts = PushCounts()

  init(
    sink: any RemoteRecordSink, environment: RunEnvironment, lease: Lease, stop: StopSignal,
    progress: SyncProgress
  ) {
    self.sink = sink
    self.environment = environment
    self.lease = lease
    self.stop = stop
    self.progress = progress
    counts = progress.result.pushed
  }

  /// Pushes the edits of some types, as far as that is possible.
  ///
  /// - Parameter denied: The types that are skipped.
  /// - Throws: The store's errors. Answers settled before stay in the store.
  mutating func run(
    _ entities: [Entity], except denied: Set<RecordType> = [],
    stages: Set<PushPortion.Stage> = [.upserts, .deletions]
  ) async throws(SyncError) {
    let requests = counts.requests
    let pending = try await pending(entities.filter { !denied.contains($0.type) })
    types = pending.map(\.entity.type)
    var machine = PushMachine(
      pending.map { ($0.entity.type, $0.count) },
      settings: PushMachine.Settings(retry: environment.options.retry), stages: stages)
    var action = machine.start()
    while let next = try await perform(action, &machine) { action = next }
    suspects = machine.suspects
    deniedTypes = Set(machine.typeFailures.filter { !$0.error.isAboutEdits }.map(\.type))
    let errors = suspects.map(\.error) + machine.typeFailures.map(\.error) + [failure].compactMap(\.self)
    wasAskedToWait = errors.contains { $0.retryAfter != nil }
    counts.isRemoteFull = counts.isRemoteFull || machine.isRemoteFull
    try await noteRoom(isLacking: counts.isRemoteFull)
    counts.pending = try await self.pending(entities).reduce(0) { $0 + $1.count }
    for (type, error) in machine.typeFailures {
      progress.noteFailure(of: type, error)
      environment.emit(.entityFailed(type, error))
    }
    progress.note(counts)
    let isFirst = stages.contains(.upserts)
    if isFirst ? !pending.isEmpty : counts.requests > requests { environment.emit(.pushFinished(counts)) }
  }

  /// Whether only the edits may have caused the push to fail, which a pull shows.
  var mayHaveFailedAtEdits: Bool { !suspects.isEmpty }

  /// Whether there are edits besides the suspects, and only the suspects ended the push.
  ///
  /// `false` after another failure, and after a pause that the remote asked for.
  var mayPushOthers: Bool {
    counts.pending > suspects.count && !wasAskedToWait && (failure == nil || suspects.count > 1)
  }

  /// Keeps the edits that failed alone out of the next pushes.
  ///
  /// The pull has shown that the remote is there.
  mutating func isolateSuspects(_ progress: SyncProgress) async throws(SyncError) {
    self.progress = progress
    for suspect in suspects {
      try await isolate(suspect.entry, EditFailure(suspect.error, isProven: false))
    }
    self.progress.note(counts)
    guard let failure else { return }
    for type in Set(suspects.map(\.entry.id.type)).sorted() {
      self.progress.noteFailure(of: type, failure)
      environment.emit(.entityFailed(type, failure))
    }
  }

  private func noteRoom(isLacking: Bool) async throws(SyncError) {
    let isKnown = try await environment.store.read { (snapshot) throws(SyncError) in
      try RemoteRoom.isLacking(in: snapshot) == isLacking
    }
    if isKnown { return }
    try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      try RemoteRoom.note(isLacking: isLacking, in: transaction)
    }
  }

  /// Performs one step, and returns the next; `nil` at the end.
  private mutating func perform(
    _ action: PushMachine.Action, _ machine: inout PushMachine
  ) async throws(SyncError) -> PushMachine.Action? {
    if stop.isRaised {
      wasStopped = true
      return nil
    }
    switch action {
    case .askLimits:
      let (environment, sink) = (environment, sink)
      switch await unlessStopped({ await environment.askLimits(of: sink) }) {
      case .success(let limits)?: return machine.limitsTold(limits)
      case .failure(let error)?: return failed(error, &machine)
      case nil: return nil
      }
    case .load(let portion):
      return machine.loaded(try await load(portion))
    case .prepare(let ids, let stage):
      let preparation = PushPreparation(ids: ids, stage: stage, now: environment.clock.timestamp)
      return machine.prepared(
        try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
          try preparation.run(in: transaction)
        })
    case .send(let changes):
      counts.requests += 1
      let (environment, sink) = (environment, sink)
      switch await unlessStopped({ await environment.push(changes, to: sink) }) {
      case .success(let outcomes)?: return machine.answered(outcomes, random: environment.random())
      case .failure(let error)?: return failed(error, &machine)
      case nil: return nil
      }
    case .settle(let answers):
      return machine.settled(try await settle(answers))
    case .isolate(let entry, let failure):
      try await isolate(entry, failure)
      return machine.isolated()
    case .wait(let pause):
      let clock = environment.clock
      // A wait that is cut short is handled like any other stop.
      guard await unlessStopped({ try? await clock.pause(for: pause) }) != nil else { return nil }
      return machine.waited()
    case .onStorageFull:
      guard let wasMade = await onStorageFull() else { return nil }
      return machine.roomMade(wasMade)
    case .finish:
      return nil
    case .fail:
      failure = machine.failure
      return nil
    }
  }

  private mutating func unlessStopped<R: Sendable>(_ work: @escaping @Sendable () async -> R) async -> R? {
    let result = await stop.race(clock: environment.clock, work)
    if result == nil { wasStopped = true }
    return result
  }

  private func failed(_ error: SyncError, _ machine: inout PushMachine) -> PushMachine.Action {
    let action = machine.failed(error, random: environment.random())
    if case .wait(let pause) = action, let type = machine.type {
      environment.emit(.retrying(type, attempt: machine.failedAttempts + 1, after: pause, error: error))
    }
    return action
  }

  private func pending(
    _ entities: [Entity]
  ) async throws(SyncError) -> [(entity: Entity, count: Int)] {
    try await environment.store.read { (snapshot) throws(SyncError) in
      var pending: [(Entity, Int)] = []
      for entity in entities {
        let count = try snapshot.outboxCount(entity.type)
        if count > 0 { pending.append((entity, count)) }
      }
      return pending
    }
  }

  private mutating func load(_ portion: PushPortion) async throws(SyncError) -> LoadedPortion {
    guard let entity = environment.schema[portion.type] else {
      return LoadedPortion(candidates: [], count: 0)
    }
    let outset = PushOutset(
      portion: portion, entity: entity, schema: environment.schema, edits: environment.edits,
      source: environment.source.capabilities, fence: lease.fence, now: environment.clock.timestamp)
    // Within a write, because a store that caches what it reads in a write need not read it again
    // for the next step.
    let environment = environment
    let (loaded, tally) = try await environment.store.write(.lease(lease)) {
      (transaction) throws(SyncError) in
      try SourceExchange.noteFirst(entity, in: environment, transaction)
      return try outset.load(in: transaction)
    }
    if let tally {
      counts.conflicts += tally.conflicts.count
      progress.note(tally)
      environment.emitChanges(tally, of: portion.type)
    }
    return loaded
  }

  private mutating func isolate(_ entry: OutboxEntry, _ failure: EditFailure) async throws(SyncError) {
    let isolation = EditIsolation(entry: entry, failure: failure, now: environment.clock.timestamp)
    let state = try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      try isolation.run(in: transaction)
    }
    switch state {
    case .refused(let reason, _):
      counts.refused += 1
      environment.emit(.editRefused(entry.id, reason: reason))
    case .postponed: counts.postponed += 1
    case .waiting, nil: break
    }
  }

  private mutating func settle(_ answers: [PushAnswer]) async throws(SyncError) -> [PushFate] {
    // A batch is of one type.
    guard let type = answers.first?.entry.id.type, let entity = environment.schema[type] else { return [] }
    let settlement = PushSettlement(
      entity: entity, schema: environment.schema, edits: environment.edits,
      source: environment.source.capabilities, retry: environment.options.retry, fence: lease.fence,
      now: environment.clock.timestamp, answers: answers)
    let outcome = try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      try settlement.run(in: transaction)
    }
    note(outcome, of: type)
    return outcome.fates
  }

  private mutating func note(_ outcome: PushSettlement.Outcome, of type: RecordType) {
    for fate in outcome.fates {
      switch fate {
      case .accepted: counts.accepted += 1
      case .refused: counts.refused += 1
      case .postponed: counts.postponed += 1
      case .lost, .stands, .left, .full: break
      }
    }
    counts.conflicts += outcome.tally.conflicts.count
    // The pull counts what was fetched. Only conflicts are counted for the push as well.
    var found = SyncCounts()
    found.conflicts = outcome.tally.conflicts.count
    if found.conflicts > 0 { progress.noteConflicts(of: type, found.conflicts) }
    environment.emitFindings(outcome.tally)
    for (id, reason) in outcome.refusals { environment.emit(.editRefused(id, reason: reason)) }
    if !outcome.tally.changed.isEmpty {
      environment.emit(
        .pageCommitted(
          SyncEvent.PageReport(
            type: type, counts: found, changed: outcome.tally.changed, fetched: 0, total: nil)))
    }
  }

  /// Reports that the remote is full, and lets the app make room.
  ///
  /// - Returns: Whether room was made; `nil` after a request to stop.
  private mutating func onStorageFull() async -> Bool? {
    // The number is for a person to read, so a failed count changes nothing.
    let pending = (try? await pending(environment.schema.entities)) ?? []
    environment.emit(.remoteStorageFull(pending: pending.reduce(0) { $0 + $1.count }))
    guard let onStorageFull = environment.edits.onStorageFull else { return false }
    return await unlessStopped(onStorageFull)
  }
}

extension RunEnvironment {
  /// Reads a sink's limits, or fails at once if the network is away.
  fileprivate func askLimits(of sink: any RemoteRecordSink) async -> Result<SinkLimits, SyncError> {
    if let offline { return .failure(offline) }
    do throws(SyncError) {
      return .success(try await sink.limits())
    } catch {
      return .failure(error)
    }
  }

  /// Sends a batch, or fails at once if the network is away.
  fileprivate func push(
    _ changes: [OutgoingChange], to sink: any RemoteRecordSink
  ) async -> Result<[PushOutcome], SyncError> {
    if let offline { return .failure(offline) }
    do throws(SyncError) {
      return .success(try await sink.push(changes, entities: schema))
    } catch {
      return .failure(error)
    }
  }
}
