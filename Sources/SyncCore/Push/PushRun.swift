import SyncModels
import SyncPorts

/// Pushes the edits in the outbox, before the pulls.
struct PushPhase: SyncPhase {
  let sink: any RemoteRecordSink

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let isAlone = session.request.direction == .push
    let push = try await PushRun.run(session.entities, to: sink, in: &session)
    session.push = push
    if let error = push.failure, isAlone || push.suspects.isEmpty {
      // In a push alone, types without edits have no failure. In a sync, no type's pass was
      // reached.
      session.failing = isAlone ? push.types : session.entities.map(\.type)
      throw error
    }
    // The remote's failures have used up their budget. The pull now shows whether the remote is
    // there at all.
    if push.failure != nil { session.environment.options.retry.attempts = 1 }
    return push.end
  }
}

/// Keeps the edits that failed alone out of the next pushes, and pushes the others.
///
/// The pulls have shown that the remote is there.
struct SuspectPhase: SyncPhase {
  let sink: any RemoteRecordSink

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    guard let push = session.push, !push.suspects.isEmpty else { return .finished }
    try await isolateSuspects(of: push, in: &session)
    guard push.mayPushOthers else { return .finished }
    let rest = try await PushRun.run(session.entities, to: sink, in: &session)
    if !rest.suspects.isEmpty {
      try await isolateSuspects(of: rest, in: &session)
    } else if let error = rest.failure {
      session.failing = rest.types
      throw error
    }
    return rest.end
  }

  private func isolateSuspects(
    of push: PushEnd, in session: inout SyncSession
  ) async throws(SyncError) {
    for suspect in push.suspects {
      try await session.isolate(suspect.batch.entries, EditFailure(suspect.error, isProven: false))
    }
    guard let failure = push.failure else { return }
    for type in Set(push.suspects.flatMap(\.batch.types)).sorted() {
      session.reportFailure(of: type, failure)
    }
  }
}

/// Pushes the deletions of a rebuild's losers, at the end of the sync.
///
/// The pulls have shown which winners are still there.
struct LoserDeletion: SyncPhase {
  let sink: any RemoteRecordSink

  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in try !session.typesWithLosers(in: snapshot).isEmpty }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let losing = try await session.typesWithLosers()
    guard !losing.isEmpty else { return .finished }
    return try await PushRun.finish(losing, stages: [.deletions], to: sink, in: &session)
  }
}

/// Runs one push: carries out the machine's steps, one at a time, under the sync's lease.
///
/// It can be stopped between any two steps. A batch that is being sent then is abandoned and stays
/// prepared: the next push sends it again unchanged.
struct PushRun {
  let sink: any RemoteRecordSink
  private var machine: PushMachine
  /// The types that have edits to push.
  private let types: [RecordType]
  /// The edits that the remote has refused, with its reasons.
  private var refusals: [RecordID: String] = [:]
  /// The number of edits at the beginning of the push.
  private let total: Int
  private var progress = PushProgress()

  /// Pushes the edits of some types, as far as that is possible.
  ///
  /// Types that the remote has denied earlier in this sync are left out.
  ///
  /// - Throws: The store's errors. Answers settled before stay in the store.
  static func run(
    _ entities: [Entity], stages: Set<PushPortion.Stage> = [.upserts, .deletions],
    to sink: any RemoteRecordSink, in session: inout SyncSession
  ) async throws(SyncError) -> PushEnd {
    let requests = session.progress.pushed.requests
    let denied = session.deniedTypes
    let entities = entities.filter { !denied.contains($0.type) }
    let pending = try await session.pendingEdits(of: entities)
    var run = PushRun(
      sink: sink,
      machine: PushMachine(
        pending.map { ($0.type, $0.count) },
        settings: PushMachine.Settings(retry: session.environment.options.retry), stages: stages),
      types: pending.map(\.type), total: pending.reduce(0) { $0 + $1.count })
    var end = try await run.performAll(in: &session)
    var (typeFailures, suspects) = (run.machine.typeFailures, run.machine.suspects)
    if end == .finished, run.machine.failure == nil,
      let again = try await run.reconsidered(entities, in: &session)
    {
      run.machine = again
      end = try await run.performAll(in: &session)
      typeFailures += run.machine.typeFailures
      suspects += run.machine.suspects
    }
    try await run.reportRefusals(in: &session)
    let machine = run.machine
    session.progress.pushed.isRemoteFull = session.progress.pushed.isRemoteFull || machine.isRemoteFull
    try await run.persistRoom(in: session)
    session.progress.pushed.pending = try await session.pendingEdits(of: session.entities)
      .reduce(0) { $0 + $1.count }
    for (type, error) in typeFailures {
      session.reportFailure(of: type, error)
      if !error.isAboutEdits { session.deniedTypes.insert(type) }
    }
    let counts = session.progress.pushed
    let isFirst = stages.contains(.upserts)
    if isFirst ? !pending.isEmpty : counts.requests > requests {
      session.environment.emit(.pushFinished(counts))
    }
    return PushEnd(
      end: end, failure: machine.failure, types: run.types, typeFailures: typeFailures,
      suspects: suspects, pending: counts.pending)
  }

  /// Returns a second push for edits that the first one has made possible.
  ///
  /// A remote refuses a record with a unique value that another one has until that one is deleted or
  /// changed, and deletions are sent after upserts. Edits that refer to records of a group may have
  /// come before the group.
  private func reconsidered(
    _ entities: [Entity], in session: inout SyncSession
  ) async throws(SyncError) -> PushMachine? {
    let freed = entities.filter { session.progress.freed.contains($0.type) }
    var pending = try await session.reconsiderRefused(freed)
    session.progress.freed.subtract(freed.map(\.type))
    if machine.hasAppliedGroups { pending = try await session.pendingEdits(of: entities) }
    return pending.isEmpty ? nil : PushMachine(pending, after: machine)
  }

  /// Counts and reports the edits that stay refused.
  private func reportRefusals(in session: inout SyncSession) async throws(SyncError) {
    for ids in refusals.keys.sorted().portions(of: MergeContext.portion) {
      let refused = try await session.read { (snapshot) throws(SyncError) in
        try snapshot.outbox(for: ids).filter(\.isRefused).map(\.id)
      }
      session.progress.pushed.refused += refused.count
      for id in refused.sorted() {
        session.environment.emit(.editRefused(id, reason: refusals[id] ?? ""))
      }
    }
  }

  /// Pushes what the end of a sync has brought. A failure ends the sync.
  static func finish(
    _ entities: [Entity], stages: Set<PushPortion.Stage> = [.upserts, .deletions],
    to sink: any RemoteRecordSink, in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    let push = try await run(entities, stages: stages, to: sink, in: &session)
    guard let error = push.failure else { return push.end }
    session.failing = entities.map(\.type)
    throw error
  }

  private mutating func performAll(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    var action = machine.start()
    while true {
      if session.isStopped { return .stopped }
      switch action {
      case .finish, .fail: return .finished
      default: break
      }
      guard let next = try await perform(action, in: &session) else { return .stopped }
      action = next
    }
  }

  /// Performs one step, and returns the next one; `nil` after a request to stop.
  private mutating func perform(
    _ action: PushMachine.Action, in session: inout SyncSession
  ) async throws(SyncError) -> PushMachine.Action? {
    switch action {
    case .askLimits:
      let result = await session.environment.request { () throws(SyncError) in try await sink.limits() }
      if session.isStopped { return nil }
      switch result {
      case .success(let limits): return machine.limitsTold(limits)
      case .failure(let error): return failed(error, in: session)
      }
    case .load(let portion):
      return machine.loaded(try await load(portion, in: &session))
    case .prepare(let ids, let stage):
      let preparation = PushPreparation(ids: ids, stage: stage, now: session.environment.clock.timestamp)
      let prepared = try await session.write { (transaction) throws(SyncError) in
        try preparation.run(in: transaction)
      }
      return machine.prepared(prepared.entries, resent: prepared.resent)
    case .send(let changes, let isGroup):
      let result = await send(changes, isGroup: isGroup, in: &session)
      if session.isStopped { return nil }
      switch result {
      case .success(let answers):
        let environment = session.environment
        let outcomes = environment.upgrades.isEmpty ? answers : answers.map { environment.upgraded($0) }
        return machine.answered(outcomes, random: environment.random.next())
      case .failure(let error): return failed(error, in: session)
      }
    case .settle(let answers):
      return machine.settled(try await settle(answers, in: &session))
    case .isolate(let entries, let failure):
      try await session.isolate(entries, failure)
      return machine.isolated()
    case .wait(let pause):
      guard (try? await session.environment.clock.pause(for: pause, as: .retry)) != nil else {
        return nil
      }
      return machine.waited()
    case .onStorageFull:
      let wasMade = await onStorageFull(in: session)
      return session.isStopped ? nil : machine.roomMade(wasMade)
    case .finish, .fail:
      return nil
    }
  }

  /// Sends changes, and those once more whose only conflict is that an upgrade has converted their bases.
  private func send(
    _ changes: [OutgoingChange], isGroup: Bool, in session: inout SyncSession
  ) async -> Result<[PushOutcome], SyncError> {
    let environment = session.environment
    if environment.upgrades.isEmpty { return await push(changes, isGroup: isGroup, in: &session) }
    let sent = changes.map(environment.onRemoteForm)
    let result = await push(sent, isGroup: isGroup, in: &session)
    guard case .success(var outcomes) = result, outcomes.count == changes.count, !session.isStopped else {
      return result
    }
    var repeated: [(place: Int, change: OutgoingChange)] = []
    for (place, change) in changes.enumerated() {
      guard let again = environment.onCopy(of: outcomes[place], change) else { continue }
      repeated.append((place, again))
    }
    if repeated.isEmpty { return result }
    if isGroup {
      var group = sent
      for (place, change) in repeated { group[place] = change }
      return await push(group, isGroup: true, in: &session)
    }
    // After a failure, the next push sends them again.
    if case .success(let answers) = await push(repeated.map(\.change), isGroup: false, in: &session),
      answers.count == repeated.count
    {
      for (answer, (place, _)) in zip(answers, repeated) { outcomes[place] = answer }
    }
    return .success(outcomes)
  }

  private func push(
    _ changes: [OutgoingChange], isGroup: Bool, in session: inout SyncSession
  ) async -> Result<[PushOutcome], SyncError> {
    session.progress.pushed.requests += 1
    let (sink, schema) = (sink, session.schema)
    return await session.environment.request { () throws(SyncError) in
      isGroup
        ? try await sink.push(atomically: changes, entities: schema)
        : try await sink.push(changes, entities: schema)
    }
  }

  private mutating func failed(_ error: SyncError, in session: SyncSession) -> PushMachine.Action {
    let action = machine.failed(error, random: session.environment.random.next())
    if case .wait(let pause) = action, let type = machine.type {
      session.environment.emit(
        .retrying(type, attempt: machine.failedAttempts + 1, after: pause, error: error))
    }
    return action
  }

  private func load(
    _ portion: PushPortion, in session: inout SyncSession
  ) async throws(SyncError) -> LoadedPortion {
    let environment = session.environment
    guard let entity = environment.schema[portion.type] else {
      return LoadedPortion(candidates: [], count: 0)
    }
    let outset = PushOutset(
      portion: portion, entity: entity, context: environment.releaseContext(fence: session.fence))
    // Within a write, because a store that caches what it reads in a write need not read it again
    // for the next step.
    let (loaded, tallies) = try await session.write { (transaction) throws(SyncError) in
      try SourceExchange.persistFirst(entity, in: environment, transaction)
      return try outset.load(in: transaction)
    }
    for tally in tallies {
      session.progress.pushed.conflicts += tally.conflicts.count
      session.report(tally, of: portion.type)
    }
    return loaded
  }

  private mutating func settle(
    _ answers: [PushAnswer], in session: inout SyncSession
  ) async throws(SyncError) -> [SettlementResult] {
    let environment = session.environment
    var context = environment.releaseContext(fence: session.fence)
    // A change that is withheld here was not counted as fetched, so the pull must not count it again.
    context.finder = .push(fence: session.fence)
    let groups = answers.placesByType
    var settlements: [PushSettlement] = []
    for group in groups {
      guard let entity = environment.schema[group.type] else { return [] }
      settlements.append(
        PushSettlement(
          entity: entity, context: context, retry: environment.options.retry,
          answers: groups.count == 1 ? answers : group.places.map { answers[$0] }))
    }
    let outcomes = try await session.write { [settlements] (transaction) throws(SyncError) in
      var outcomes: [PushSettlement.Outcome] = []
      for settlement in settlements { outcomes.append(try settlement.run(in: transaction)) }
      return outcomes
    }
    var results = answers.map { _ in SettlementResult.unresolved }
    for (group, outcome) in zip(groups, outcomes) {
      session.report(outcome, of: group.type)
      for (id, reason) in outcome.refusals { refusals[id] = reason }
      for (place, result) in zip(group.places, outcome.results) { results[place] = result }
      // The remote's record has changed: by the edit, or by another client's, which won.
      if group.places.contains(where: {
        [.accepted, .lost].contains(results[$0]) && answers[$0].entry.base.record != nil
      }) {
        session.progress.freed.insert(group.type)
      }
    }
    for (answer, result) in zip(answers, results) { progress.add(result, of: answer.entry.id) }
    environment.emit(.pushCommitted(done: progress.done, total: max(total, progress.done)))
    return results
  }

  /// Reports that the remote is full, and lets the app make room.
  private func onStorageFull(in session: SyncSession) async -> Bool {
    let environment = session.environment
    // The number is for a person to read, so a failed count changes nothing.
    let pending = (try? await session.pendingEdits(of: environment.schema.entities)) ?? []
    environment.emit(.remoteStorageFull(pending: pending.reduce(0) { $0 + $1.count }))
    guard let onStorageFull = environment.edits.onStorageFull else { return false }
    return await RunEnvironment.$awaiting.withValue(ObjectIdentifier(environment.priorities)) {
      await onStorageFull()
    }
  }

  private func persistRoom(in session: SyncSession) async throws(SyncError) {
    let isLacking = session.progress.pushed.isRemoteFull
    let isKnown = try await session.read { (snapshot) throws(SyncError) in
      try RemoteRoom.isLacking(in: snapshot) == isLacking
    }
    if isKnown { return }
    try await session.write { (transaction) throws(SyncError) in
      try RemoteRoom.persist(isLacking: isLacking, in: transaction)
    }
  }
}

extension [PushAnswer] {
  /// The places of the answers by the types of their edits. A batch is of one type, unless it is a group.
  fileprivate var placesByType: [(type: RecordType, places: [Int])] {
    guard let type = first?.entry.id.type else { return [] }
    if allSatisfy({ $0.entry.id.type == type }) { return [(type, Array<Int>(indices))] }
    return Dictionary(grouping: indices) { self[$0].entry.id.type }
      .sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

/// The edits that a push was answered about.
private struct PushProgress {
  private var accepted = 0
  /// Those that were answered otherwise.
  private var others: Set<RecordID> = []

  var done: Int { accepted + others.count }

  mutating func add(_ result: SettlementResult, of id: RecordID) {
    if result != .accepted {
      others.insert(id)
    } else {
      accepted += 1
      if !others.isEmpty { others.remove(id) }
    }
  }
}

/// How one push ended.
struct PushEnd: Sendable {
  let end: PhaseEnd
  /// The error that ended the push.
  let failure: SyncError?
  /// The types that had edits to push.
  let types: [RecordType]
  /// The types whose edits the remote rejected altogether, with the errors.
  fileprivate let typeFailures: [(type: RecordType, error: SyncError)]
  /// Edits that failed alone, if no edit has shown that the remote is there.
  ///
  /// A pull shows whether the remote is there.
  let suspects: [EditSearch.Suspect]
  /// The number of edits that are still pending.
  fileprivate let pending: Int

  /// Whether there are edits besides the suspects, and only the suspects ended the push.
  ///
  /// `false` after another failure, and after a pause that the remote asked for.
  var mayPushOthers: Bool {
    let errors = suspects.map(\.error) + typeFailures.map(\.error) + [failure].compactMap(\.self)
    let wasAskedToWait = errors.contains { $0.retryAfter != nil }
    return pending > suspects.count && !wasAskedToWait && (failure == nil || suspects.count > 1)
  }
}

extension SyncSession {
  /// Counts the pending edits of some types, without types that have none.
  func pendingEdits(
    of entities: [Entity]
  ) async throws(SyncError) -> [(type: RecordType, count: Int)] {
    try await read { (snapshot) throws(SyncError) in
      var pending: [(RecordType, Int)] = []
      for entity in entities where entity.access != .local {
        let count = try snapshot.outboxCount(entity.type)
        if count > 0 { pending.append((entity.type, count)) }
      }
      return pending
    }
  }

  /// Keeps edits at which the remote fails out of the next pushes: one, or those of a group.
  mutating func isolate(_ entries: [OutboxEntry], _ failure: EditFailure) async throws(SyncError) {
    let now = environment.clock.timestamp
    let states = try await write { (transaction) throws(SyncError) in
      var states: [OutboxEntry.State?] = []
      for entry in entries {
        states.append(try EditIsolation(entry: entry, failure: failure, now: now).run(in: transaction))
      }
      return states
    }
    for (entry, state) in zip(entries, states) {
      switch state {
      case .refused(let reason, _):
        progress.pushed.refused += 1
        environment.emit(.editRefused(entry.id, reason: reason))
      case .postponed: progress.pushed.postponed += 1
      case .waiting, nil: break
      }
    }
  }

  /// Counts and reports the settled answers to a batch.
  fileprivate mutating func report(_ outcome: PushSettlement.Outcome, of type: RecordType) {
    for result in outcome.results {
      switch result {
      case .accepted: progress.pushed.accepted += 1
      case .postponed: progress.pushed.postponed += 1
      case .refused, .lost, .rebased, .unresolved, .noRoom, .notApplied: break
      }
    }
    progress.pushed.conflicts += outcome.tally.conflicts.count
    // The pull counts what was fetched. Only conflicts are counted for the push as well.
    var found = SyncCounts()
    found.conflicts = outcome.tally.conflicts.count
    if found.conflicts > 0 { progress.countConflicts(of: type, found.conflicts) }
    environment.emitFindings(outcome.tally)
    for move in outcome.moves { environment.emit(.moved(move.from, to: move.to)) }
    if !outcome.tally.changed.isEmpty {
      environment.emit(
        .pageCommitted(
          SyncEvent.PageReport(
            type: type, counts: found, changed: outcome.tally.changed, fetched: 0, total: nil)))
    }
  }
}

/// What the last push learned about room at the remote.
enum RemoteRoom {
  private static let key = ValueKey<Noted>(.push, "full")

  /// Returns whether the remote had no room for new records.
  static func isLacking(in snapshot: any StoreSnapshot) throws(SyncError) -> Bool {
    try snapshot.value(of: key) != nil
  }

  /// Saves whether the remote had room.
  static func persist(isLacking: Bool, in transaction: any StoreTransaction) throws(SyncError) {
    if isLacking { try transaction.set(.noted, for: key) } else { try transaction.remove(key) }
  }
}
