import SyncModels
import SyncPorts

/// Pulls every type, after the types that it refers to.
struct PullPhase: SyncPhase {
  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let starts: [RecordType: PullStart]
    (starts, session.needed) = try await session.read { [session] (snapshot) throws(SyncError) in
      let needed = session.environment.sink == nil ? nil : try NeededValues(of: session.schema, in: snapshot)
      return (try PullStart.load(session, from: snapshot), needed)
    }
    var run = PullRun(session, starts: starts)
    await run.run()
    session = run.session
    if let error = run.failure {
      // A type whose pass was completed has not failed, whatever ended the sync.
      session.failing = session.entities.map(\.type).filter { !run.ended.contains($0) }
      throw error
    }
    return run.end
  }
}

/// Runs the pulls of one sync: carries out the machines' steps, one commit at a time.
///
/// All decisions are in ``PullMachine`` and ``PullSchedule``; this is the loop beside them.
/// Fetches, waits and commits are child tasks of one group, so none outlives the sync.
private struct PullRun {
  enum Event: Sendable {
    case fetched(RecordType, Result<RecordPage, SyncError>)
    case waited(RecordType)
    /// What was committed, and the error that ended it.
    case committed(RecordType, CommittedPages, SyncError?)
  }
  typealias Tasks = TaskGroup<Event>

  private(set) var session: SyncSession
  private(set) var end = PhaseEnd.finished
  private(set) var failure: SyncError?
  /// The types whose passes have ended, by completion or by a failure of their own.
  private(set) var ended: Set<RecordType> = []

  private var schedule: PullSchedule
  private var machines: [RecordType: PullMachine] = [:]
  private var statuses: [RecordType: PassOutcomes] = [:]
  private var stopwatches: [RecordType: @Sendable () -> Duration] = [:]
  private let starts: [RecordType: PullStart]
  /// Requests of types that wait for more urgent ones.
  private var held: [RecordType: PageRequest] = [:]
  private var commits: [(type: RecordType, pages: [PageCommit])] = []
  private var isCommitting = false
  private var underWay = 0

  init(_ session: SyncSession, starts: [RecordType: PullStart]) {
    self.session = session
    self.starts = starts
    schedule = PullSchedule(
      session.entities.filter { $0.access != .local }, of: session.schema,
      width: session.environment.options.maximumConcurrentTypes)
  }

  /// Pulls every type until all have ended, or the sync stops or fails.
  mutating func run() async {
    await withTaskGroup(of: Event.self) { tasks in
      prioritize()
      startTypes(in: &tasks)
      while !schedule.isOver, failure == nil, end == .finished, let event = await tasks.next() {
        // Before the event is handled, so that its effects follow the current priorities.
        let isNews = prioritize()
        handle(event, in: &tasks)
        if isNews || !held.isEmpty { goOn(in: &tasks) }
      }
      // A request under way is abandoned. A commit that has begun is completed.
      tasks.cancelAll()
      while underWay > 0, let event = await tasks.next() { settle(event) }
    }
  }

  @discardableResult
  private mutating func prioritize() -> Bool {
    schedule.prioritize(session.environment.priorities.types)
  }

  private mutating func handle(_ event: Event, in tasks: inout Tasks) {
    settle(event)
    // An observer of what was committed may have asked for the stop.
    if session.isStopped { end = .stopped }
    guard end == .finished, failure == nil else { return }
    switch event {
    case .fetched(let type, let result):
      fetched(type, result, in: &tasks)
    case .waited(let type):
      act(on: type, in: &tasks) { $0.waited() }
    case .committed(let type, _, _):
      act(on: type, in: &tasks) { $0.committed() }
      commitNext(in: &tasks)
    }
  }

  /// Records what has ended, and starts nothing new.
  private mutating func settle(_ event: Event) {
    underWay -= 1
    guard case .committed(let type, let committed, let error) = event else { return }
    isCommitting = false
    report(committed, of: type)
    failure = failure ?? error
  }

  private mutating func fetched(
    _ type: RecordType, _ result: Result<RecordPage, SyncError>, in tasks: inout Tasks
  ) {
    let now = session.environment.clock.timestamp
    switch result {
    case .success(let page):
      // An old token was expected to expire, so this resets nothing.
      if case .reset(let reason) = page.next,
        machines[type]?.isShowingOldToken != true || reason == .remoteReplaced
      {
        session.environment.emit(.reset(type, reason))
      }
      let isFirst = machines[type]?.isFirstAnswer ?? false
      act(on: type, in: &tasks) { $0.fetched(page, at: now) }
      if isFirst, let machine = machines[type] {
        session.environment.emit(
          .entityStarted(type, coverage: machine.coverage, isResumed: machine.isResumed))
      }
    case .failure(let error):
      let random = session.environment.random.next()
      act(on: type, in: &tasks, after: error) { $0.fetchFailed(error, random: random) }
    }
  }

  private mutating func act(
    on type: RecordType, in tasks: inout Tasks, after error: SyncError? = nil,
    _ step: (inout PullMachine) -> [PullMachine.Action]
  ) {
    guard var machine = machines[type] else { return }
    let actions = step(&machine)
    machines[type] = machine
    for action in actions {
      perform(action, on: type, attempt: machine.failedAttempts, after: error, in: &tasks)
    }
  }

  private mutating func perform(
    _ action: PullMachine.Action, on type: RecordType, attempt: Int, after error: SyncError?,
    in tasks: inout Tasks
  ) {
    let environment = session.environment
    switch action {
    case .fetch(let request):
      guard !schedule.hold(type) else { return held[type] = request }
      underWay += 1
      session.progress.countRequests(of: type, 1)
      // The store has the epoch of a replaced remote only after the first page.
      let epoch = machines[type]?.checkpoint.epoch ?? 0
      tasks.addTask { .fetched(type, await environment.fetch(request, epoch: epoch)) }
    case .wait(let pause):
      underWay += 1
      if let error { environment.emit(.retrying(type, attempt: attempt + 1, after: pause, error: error)) }
      tasks.addTask {
        // A wait that is cut short ends the sync, and the loop checks for the reason.
        try? await environment.clock.pause(for: pause, as: .retry)
        return .waited(type)
      }
    case .commit(let pages):
      commits.append((type, pages))
      commitNext(in: &tasks)
    case .finish:
      environment.emit(.entityFinished(type, session.progress.result[type]))
      end(type, in: &tasks)
    case .fail:
      guard let error = machines[type]?.failure else { return }
      guard error.endsOneTypeAlone else { return failure = error }
      session.reportFailure(of: type, error)
      end(type, in: &tasks)
    }
  }

  private mutating func commitNext(in tasks: inout Tasks) {
    guard !isCommitting, let index = schedule.mostUrgent(commits.map(\.type)),
      let entity = session.schema[commits[index].type]
    else {
      return
    }
    let (type, pages) = commits.remove(at: index)
    isCommitting = true
    underWay += 1
    let group = PageGroup(
      pages: pages.map { page in
        PageTransaction(
          entity: entity, context: context(for: page, of: entity), commit: page,
          status: status(of: type, after: page))
      }, isLast: isLast(pages, of: type), session: session)
    tasks.addTask {
      let (committed, error) = await group.commit()
      return .committed(type, committed, error)
    }
  }

  /// Whether the sync probably writes no more after some pages of a type.
  private func isLast(_ pages: [PageCommit], of type: RecordType) -> Bool {
    guard let last = pages.last, last.isLast, last.checkpoint.sweep == nil else { return false }
    return commits.isEmpty && schedule.isLast(type) && session.progress.result.failures.isEmpty
  }

  private mutating func report(_ committed: CommittedPages, of type: RecordType) {
    for tally in committed.pages {
      session.progress.count(tally)
      report(tally, of: type)
    }
    for tally in committed.changes { session.report(tally, of: type) }
    session.progress.countRequests(of: type, committed.requests)
    if let refusal = committed.refusal { session.report(refusal, of: type) }
  }

  private mutating func status(of type: RecordType, after commit: PageCommit) -> PassOutcomes? {
    guard commit.isLast || statuses[type] == nil else { return nil }
    var status = statuses[type] ?? starts[type]?.status ?? PassOutcomes()
    status.countAttempt(at: session.environment.clock.timestamp, isComplete: commit.isLast)
    statuses[type] = status
    return status
  }

  private func context(for commit: PageCommit, of entity: Entity) -> MergeContext {
    let environment = session.environment
    var context = MergeContext(
      schema: environment.schema, edits: environment.edits, finder: .sync(fence: session.fence),
      now: environment.clock.timestamp, listing: environment.source.capabilities(of: entity.type).listing,
      pass: commit.pass,
      markPass: commit.markPass,
      stages: entity.visibility == .wholeEntity)
    context.ownCopies = commit.page.ownCopies
    context.needed = session.needed
    return context
  }

  private func report(_ tally: Tally, of type: RecordType) {
    session.environment.emitFindings(tally)
    session.environment.emit(
      .pageCommitted(
        SyncEvent.PageReport(
          type: type, counts: tally.counts[type, default: SyncCounts()], changed: tally.changed,
          fetched: tally.passProgress.fetched, total: tally.passProgress.total,
          elapsed: stopwatches[type]?() ?? .zero, fetchedInSync: session.progress.result[type].fetched)))
  }

  private mutating func startTypes(in tasks: inout Tasks) {
    for entity in schedule.next() {
      guard let start = starts[entity.type] else { continue }
      session.progress.add(entity.type)
      stopwatches[entity.type] = session.environment.clock.stopwatch()
      machines[entity.type] = PullMachine(
        entity: entity, checkpoint: start.checkpoint, settings: start.settings,
        now: session.environment.clock.timestamp)
      act(on: entity.type, in: &tasks) { $0.start() }
    }
  }

  /// Resumes held types, and starts types whose turn it is.
  private mutating func goOn(in tasks: inout Tasks) {
    guard failure == nil, end == .finished else { return }
    for type in schedule.released() {
      guard let request = held.removeValue(forKey: type) else { continue }
      perform(.fetch(request), on: type, attempt: 0, after: nil, in: &tasks)
    }
    startTypes(in: &tasks)
  }

  private mutating func end(_ type: RecordType, in tasks: inout Tasks) {
    ended.insert(type)
    schedule.ended(type)
    goOn(in: &tasks)
  }
}

/// The start of a type's pull, read from the store before the sync's first request.
struct PullStart: Sendable {
  var checkpoint: Checkpoint?
  var status: PassOutcomes
  var settings: PullMachine.Settings

  /// Reads the starts of a sync's types.
  static func load(
    _ session: SyncSession, from snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordType: PullStart] {
    let (request, environment, options) = (session.request, session.environment, session.environment.options)
    let store = try snapshot.storeIdentity()
    var starts: [RecordType: PullStart] = [:]
    for entity in session.entities {
      let scope = environment.scope(of: entity, store: store)
      let lacksSomething = try ListingGap.of(entity.type, in: snapshot) == .exposed
      starts[entity.type] = PullStart(
        checkpoint: try snapshot.checkpoint(for: entity.type),
        status: try PassOutcomes.load(for: entity.type, from: snapshot),
        settings: PullMachine.Settings(
          scope: scope, capabilities: environment.source.capabilities(of: entity.type),
          pageSize: options.pageSize,
          pagesAhead: options.pagesAhead, retry: options.retry,
          deletionCheckInterval: options.deletionCheckInterval,
          forcesFullPass: request.fullPull.contains(entity.type) || lacksSomething,
          beginsEpoch: request.versionsStartOver && request.fullPull.contains(entity.type)))
    }
    return starts
  }
}

/// The commit of fetched pages of one type.
struct PageGroup: Sendable {
  /// The pages, in the order of their requests.
  let pages: [PageTransaction]
  /// Whether the sync probably writes no more after them.
  let isLast: Bool
  let session: SyncSession

  /// Commits the pages, and returns what was committed before any failure.
  func commit() async -> (committed: CommittedPages, error: SyncError?) {
    var committed = CommittedPages()
    do throws(SyncError) {
      if let listing = WholeListing(endedBy: pages, in: session) {
        committed = try await listing.commit()
      } else if isLast {
        committed.pages = try await session.writeLast({ session.progress.after($0) }) {
          (transaction) throws(SyncError) in
          try write(pages[...], in: transaction)
        }
      } else {
        try await commitInTurn(&committed)
      }
      return (committed, nil)
    } catch {
      return (committed, error)
    }
  }

  /// Commits all pages at once, or fewer whenever the store asks for a commit.
  private func commitInTurn(_ committed: inout CommittedPages) async throws(SyncError) {
    var rest = pages[...]
    while !rest.isEmpty {
      let next = rest
      let tallies = try await session.write { (transaction) throws(SyncError) in
        try write(next, in: transaction, givingWay: true)
      }
      committed.pages += tallies
      rest = rest.dropFirst(tallies.count)
    }
  }

  /// Writes pages, and returns the outcome of each that was written.
  ///
  /// - Parameter givesWay: Whether to end after a page if the store asks for a commit.
  private func write(
    _ pages: ArraySlice<PageTransaction>, in transaction: any StoreTransaction,
    givingWay givesWay: Bool = false
  ) throws(SyncError) -> [Tally] {
    let group = pages.count > 1 ? transaction as? any PageGroupTransaction : nil
    // A staged page asks for no states.
    if pages.first?.context.stages == false { group?.readAhead(pages.map(\.commit.page.changes)) }
    var tallies: [Tally] = []
    for page in pages {
      tallies.append(try page.run(in: transaction))
      if givesWay, group?.shouldCommit == true { break }
    }
    return tallies
  }
}

/// The result of committing some pages of one type.
struct CommittedPages: Sendable {
  /// The tally of each page.
  var pages: [Tally] = []
  /// The tallies of sweeps and lookups.
  var changes: [Tally] = []
  /// The number of requests that confirmed absences.
  var requests = 0
  /// Why the sweep of a whole type was refused.
  var refusal: SweepRefusal?
  /// Whether the type is not published yet, because absences have to be confirmed.
  var isUnconfirmed = false
}
