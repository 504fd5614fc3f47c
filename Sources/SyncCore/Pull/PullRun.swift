import SyncModels
import SyncPorts

/// Runs the pulls of one sync: carries out the machines' steps, one commit at a time.
///
/// All decisions are in ``PullMachine`` and ``PullSchedule``; this is the loop beside them.
/// Fetches, waits and commits are child tasks of one group, so none outlives the sync.
struct PullRun {
  enum Event: Sendable {
    case fetched(RecordType, Result<RecordPage, SyncError>)
    case waited(RecordType)
    case committed(RecordType, Result<CommittedPages, SyncError>)
    case stopRequested
    case leaseLost(SyncError)
    case idle
  }

  let environment: RunEnvironment
  let stop: StopSignal
  private(set) var lease: Lease
  private(set) var progress: SyncProgress
  private(set) var wasStopped = false
  private(set) var failure: SyncError?
  /// The types whose passes have ended, by completion or by a failure of their own.
  private(set) var ended: Set<RecordType> = []

  private var schedule: PullSchedule
  private var machines: [RecordType: PullMachine] = [:]
  private var statuses: [RecordType: TypeStatus] = [:]
  private var stopwatches: [RecordType: @Sendable () -> Duration] = [:]
  private let starts: [RecordType: PullStart]
  /// Whether sweeps may remove all that they find missing.
  private let allowsMassDeletion: Bool
  /// Requests of types that wait for more urgent ones.
  private var held: [RecordType: PageRequest] = [:]
  private var commits: [(type: RecordType, pages: [PageCommit])] = []
  private var isCommitting = false
  private var underWay = 0

  init(
    _ entities: [Entity], starts: [RecordType: PullStart], environment: RunEnvironment, lease: Lease,
    stop: StopSignal, progress: SyncProgress, allowsMassDeletion: Bool
  ) {
    self.environment = environment
    self.stop = stop
    self.lease = lease
    self.progress = progress
    self.starts = starts
    self.allowsMassDeletion = allowsMassDeletion
    schedule = PullSchedule(
      entities, of: environment.schema, width: environment.options.maximumConcurrentTypes)
  }

  /// Pulls every type until all have ended, or the sync stops or fails.
  mutating func run(in group: inout TaskGroup<Event>) async {
    schedule.prioritize(environment.priorities.types)
    startTypes(in: &group)
    while !schedule.isOver, failure == nil, !wasStopped {
      guard let event = await group.next() else { break }
      // Before the event is handled, so that its effects follow the current priorities.
      let isNews = schedule.prioritize(environment.priorities.types)
      handle(event, in: &group)
      if isNews || !held.isEmpty { goOn(in: &group) }
      if stop.isRaised { wasStopped = true }
    }
    guard underWay > 0 else { return }
    // A request under way is abandoned. A commit that has begun is completed.
    group.cancelAll()
    while underWay > 0, let event = await group.next() {
      settle(event)
    }
  }

  private mutating func handle(_ event: Event, in group: inout TaskGroup<Event>) {
    switch event {
    case .fetched(let type, let result):
      underWay -= 1
      if stop.isRaised { return wasStopped = true }
      fetched(type, result, in: &group)
    case .waited(let type):
      underWay -= 1
      if stop.isRaised { return wasStopped = true }
      act(on: type, in: &group) { $0.waited() }
    case .committed(let type, .success):
      settle(event)
      if stop.isRaised { return wasStopped = true }
      act(on: type, in: &group) { $0.committed() }
      commitNext(in: &group)
    case .committed(_, .failure):
      settle(event)
    case .stopRequested:
      wasStopped = true
    case .leaseLost(let error):
      failure = failure ?? error
    case .idle:
      break
    }
  }

  /// Records what has ended, and starts nothing new.
  private mutating func settle(_ event: Event) {
    switch event {
    case .fetched, .waited:
      underWay -= 1
    case .committed(let type, .success(let committed)):
      underWay -= 1
      isCommitting = false
      note(committed, of: type)
    case .committed(_, .failure(let error)):
      underWay -= 1
      isCommitting = false
      failure = failure ?? error
    case .leaseLost(let error):
      failure = failure ?? error
    case .stopRequested, .idle:
      break
    }
  }

  private mutating func fetched(
    _ type: RecordType, _ result: Result<RecordPage, SyncError>, in group: inout TaskGroup<Event>
  ) {
    let now = environment.clock.timestamp
    switch result {
    case .success(let page):
      // An old token was expected to expire, so this resets nothing.
      if case .reset(let reason) = page.next,
        machines[type]?.isAskingAgain != true || reason == .remoteReplaced
      {
        environment.emit(.reset(type, reason))
      }
      let isFirst = machines[type]?.isFirstAnswer ?? false
      act(on: type, in: &group) { $0.fetched(page, at: now) }
      if isFirst, let machine = machines[type] {
        environment.emit(.entityStarted(type, coverage: machine.coverage, isResumed: machine.isResumed))
      }
    case .failure(let error):
      let random = environment.random()
      act(on: type, in: &group, after: error) { $0.fetchFailed(error, random: random) }
    }
  }

  private mutating func act(
    on type: RecordType, in group: inout TaskGroup<Event>, after error: SyncError? = nil,
    _ step: (inout PullMachine) -> [PullMachine.Action]
  ) {
    guard var machine = machines[type] else { return }
    let actions = step(&machine)
    machines[type] = machine
    for action in actions {
      perform(action, on: type, attempt: machine.failedAttempts, after: error, in: &group)
    }
  }

  private mutating func perform(
    _ action: PullMachine.Action, on type: RecordType, attempt: Int, after error: SyncError?,
    in group: inout TaskGroup<Event>
  ) {
    let environment = environment
    switch action {
    case .fetch(let request):
      guard !schedule.hold(type) else { return held[type] = request }
      underWay += 1
      progress.noteRequests(of: type, 1)
      group.addTask { .fetched(type, await environment.fetch(request)) }
    case .wait(let pause):
      underWay += 1
      if let error { environment.emit(.retrying(type, attempt: attempt + 1, after: pause, error: error)) }
      group.addTask {
        // A wait that is cut short ends the sync, and the loop checks for the reason.
        try? await environment.clock.pause(for: pause)
        return .waited(type)
      }
    case .commit(let pages):
      commits.append((type, pages))
      commitNext(in: &group)
    case .finish:
      environment.emit(.entityFinished(type, progress.result[type]))
      end(type, in: &group)
    case .fail(let reason):
      let error = reason.error(type: type)
      guard error.endsOneTypeAlone else { return failure = error }
      progress.noteFailure(of: type, error)
      environment.emit(.entityFailed(type, error))
      end(type, in: &group)
    }
  }

  private mutating func commitNext(in group: inout TaskGroup<Event>) {
    guard !isCommitting, let index = schedule.mostUrgent(commits.map(\.type)),
      let entity = environment.schema[commits[index].type]
    else {
      return
    }
    let (type, pages) = commits.remove(at: index)
    isCommitting = true
    underWay += 1
    let transactions = pages.map { page in
      PageTransaction(
        entity: entity, context: context(for: page, of: entity), commit: page,
        status: status(of: type, after: page))
    }
    let (store, lease) = (environment.store, lease)
    let listing = listing(endedBy: transactions)
    group.addTask {
      do throws(SyncError) {
        if let listing { return .committed(type, .success(try await listing.commit())) }
        let tallies = try await store.write(.lease(lease)) { (open) throws(SyncError) -> [Tally] in
          try transactions.map { (transaction) throws(SyncError) in try transaction.run(in: open) }
        }
        return .committed(type, .success(CommittedPages(pages: tallies)))
      } catch {
        return .committed(type, .failure(error))
      }
    }
  }

  /// Returns the complete listing that some pages end, if its type is shown whole.
  private func listing(endedBy pages: [PageTransaction]) -> WholeListing? {
    guard let last = pages.last, let unpublished = last.commit.unpublished else { return nil }
    var context = last.context
    context.coverage = .changes
    context.stages = false
    let checkpoint = last.commit.checkpoint
    let sweep = Sweep(
      last.entity, context: context, passBefore: checkpoint.sweptPass,
      capabilities: environment.source.capabilities)
    return WholeListing(
      pages: pages.dropLast(), last: last, unpublished: unpublished,
      guardian: allowsMassDeletion
        ? nil
        : SweepGuard(sweep: sweep, options: environment.options, checkpoint: checkpoint),
      sweep: sweep, environment: environment, lease: lease, stop: stop)
  }

  private mutating func note(_ committed: CommittedPages, of type: RecordType) {
    for tally in committed.pages {
      progress.note(tally)
      report(tally, of: type)
    }
    for tally in committed.changes {
      progress.note(tally)
      environment.emitChanges(tally, of: type)
    }
    progress.noteRequests(of: type, committed.requests)
    if let refusal = committed.refusal {
      progress.note(refusal, of: type)
      environment.emit(.sweepRefused(type, refusal))
    }
  }

  private mutating func status(of type: RecordType, after commit: PageCommit) -> TypeStatus? {
    guard commit.isLast || statuses[type] == nil else { return nil }
    var status = statuses[type] ?? starts[type]?.status ?? TypeStatus()
    status.noteAttempt(at: environment.clock.timestamp, isComplete: commit.isLast)
    statuses[type] = status
    return status
  }

  private func context(for commit: PageCommit, of entity: Entity) -> MergeContext {
    MergeContext(
      schema: environment.schema, edits: environment.edits, finder: .sync(fence: lease.fence),
      now: environment.clock.timestamp,
      source: environment.source.capabilities, pass: commit.pass, markPass: commit.markPass,
      stages: entity.visibility == .wholeEntity)
  }

  private func report(_ tally: Tally, of type: RecordType) {
    environment.emitFindings(tally)
    environment.emit(
      .pageCommitted(
        SyncEvent.PageReport(
          type: type, counts: tally.counts[type, default: SyncCounts()], changed: tally.changed,
          fetched: tally.passProgress.fetched, total: tally.passProgress.total,
          elapsed: stopwatches[type]?() ?? .zero, fetchedInSync: progress.result[type].fetched)))
  }

  private mutating func startTypes(in group: inout TaskGroup<Event>) {
    for entity in schedule.next() {
      guard let start = starts[entity.type] else { continue }
      progress.noteStart(of: entity.type)
      stopwatches[entity.type] = environment.clock.stopwatch()
      machines[entity.type] = PullMachine(
        entity: entity, checkpoint: start.checkpoint, settings: start.settings,
        now: environment.clock.timestamp)
      act(on: entity.type, in: &group) { $0.start() }
    }
  }

  /// Resumes held types, and starts types whose turn it is.
  private mutating func goOn(in group: inout TaskGroup<Event>) {
    guard failure == nil, !wasStopped else { return }
    for type in schedule.released() {
      guard let request = held.removeValue(forKey: type) else { continue }
      perform(.fetch(request), on: type, attempt: 0, after: nil, in: &group)
    }
    startTypes(in: &group)
  }

  private mutating func end(_ type: RecordType, in group: inout TaskGroup<Event>) {
    ended.insert(type)
    schedule.ended(type)
    goOn(in: &group)
  }
}
