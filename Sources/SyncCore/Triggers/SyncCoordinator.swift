public import SyncModels
public import SyncPorts
import Synchronization

/// Decides when to sync, and runs the syncs.
///
/// ```swift
/// let coordinator = SyncCoordinator(engine: engine, scheduler: scheduler)
/// coordinator.launch()
/// await coordinator.run()  // until the task is cancelled
/// ```
///
/// All triggers are reported to the coordinator. The signals are ``launch()``, ``foreground()``,
/// ``background()``, ``requestSync(first:)``, ``requestSyncIfStale(olderThan:)`` and
/// ``pushSignal(first:)``. They are synchronous, may be called from any thread, and only record the
/// trigger. The coordinator watches the network through the engine's own monitor. All work is done
/// inside ``run()``, one sync at a time. Signals from before ``run()`` are decided when it starts.
///
/// A sync is one step: *push, then pull*. Clean-up follows if the system gave processing time. An
/// unreachable remote is not a failure: the app goes on using its local data, and
/// ``Status/nextSync`` gives the time of the next attempt and the reason for it.
public final class SyncCoordinator: Sendable {
  /// A part of the work that the app provides.
  ///
  /// It stops soon after the token is cancelled, and keeps what it has done.
  public typealias Work = @Sendable (any CancellationToken) async throws(SyncError) -> Void

  private let engine: SyncEngine
  private let scheduler: (any BackgroundScheduler)?
  private let options: Options
  private let push: Work?
  private let cleanUp: Work?
  /// The time since the coordinator was created.
  private let elapsed: @Sendable () -> Duration
  let workSignal = WakeSignal()
  /// Given when there are events for the observer.
  private let eventSignal = WakeSignal()
  private let observe: @Sendable (Event) -> Void
  private let state: Mutex<CoordinatorState>
  private let feed: ValueFeed<Status>

  /// Creates a coordinator. It does nothing before ``run()``.
  ///
  /// - Parameters:
  ///   - engine: The engine that syncs. The coordinator uses its clock, store and connectivity
  ///     monitor.
  ///   - scheduler: Gives time in the background. Without a scheduler there is none.
  ///   - options: The triggers that are used, and the pacing.
  ///   - push: Work before each sync, for edits outside the engine's outbox. An error that it
  ///     throws fails the sync. `nil` if the engine has a sink: its syncs push by themselves.
  ///   - cleanUp: Tidies the store after the sync of a processing request, unless that sync was
  ///     stopped.
  ///   - observe: Receives every trigger and its result. Events come one at a time and in order, on
  ///     a thread that signals or works. The closure may itself send signals.
  @_disfavoredOverload
  public init(
    engine: SyncEngine, scheduler: (any BackgroundScheduler)? = nil, options: Options = Options(),
    push: Work? = nil, cleanUp: Work? = nil, observe: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    self.engine = engine
    self.scheduler = scheduler
    self.options = options
    self.push = push
    self.cleanUp = cleanUp
    self.observe = observe
    elapsed = engine.environment.clock.stopwatch()
    let network = engine.environment.connectivity?.status ?? NetworkStatus(.unknown)
    var machine = TriggerMachine(
      pacing: options.pacing, staleAge: options.staleAfter, settleTime: options.settleTime)
    _ = machine.observe(
      [options.connectivity(by: network)],
      at: Moment(elapsed: .zero, timestamp: engine.environment.clock.timestamp))
    state = Mutex(CoordinatorState(machine: machine, network: network))
    feed = ValueFeed(Status(network: network))
  }

  /// Creates a coordinator with an observer, and without work of the app's own.
  ///
  /// ```swift
  /// let coordinator = SyncCoordinator(engine: engine) { event in log(event) }
  /// ```
  ///
  /// - Parameters:
  ///   - engine: The engine that syncs.
  ///   - scheduler: Gives time in the background. Without a scheduler there is none.
  ///   - options: The triggers that are used, and the pacing.
  ///   - observe: Receives every trigger and its result.
  public convenience init(
    engine: SyncEngine, scheduler: (any BackgroundScheduler)? = nil, options: Options = Options(),
    observe: @escaping @Sendable (Event) -> Void
  ) {
    self.init(
      engine: engine, scheduler: scheduler, options: options, push: nil, cleanUp: nil, observe: observe)
  }

  /// The coordinator's current status.
  public var status: Status { feed.value }

  /// Whether requests may be made: the network is not known to be away.
  public var isOnline: Bool { engine.environment.connectivity?.connectivity != .offline }

  /// Streams the current status and each change, to one consumer.
  ///
  /// A slow consumer gets the newest sixteen.
  public func statuses() -> AsyncStream<Status> { feed.stream() }

  /// The number of consumers of ``statuses()``, by which tests detect leaks.
  package var subscribers: Int { feed.subscribers }

  /// Updates the machine to the current time, changes the state, and reports the events.
  ///
  /// All access to the state goes through here or ``observe(_:)``.
  @discardableResult
  private func update<R>(_ body: (inout CoordinatorState, Moment) -> R) -> R {
    let result = change(body)
    reportEvents()
    return result
  }

  /// Updates the machine, and leaves the reporting to ``run()``, as the observer may be slow.
  ///
  /// - Parameter news: The status from the monitor's stream.
  private func observe(_ news: NetworkStatus? = nil) {
    change(news: news) { _, _ in }
    workSignal.signal()
    eventSignal.signal()
  }

  private func change<R>(
    news: NetworkStatus? = nil, _ body: (inout CoordinatorState, Moment) -> R
  ) -> R {
    let environment = engine.environment
    let now = Moment(elapsed: elapsed(), timestamp: environment.clock.timestamp)
    let present = environment.connectivity?.status ?? NetworkStatus(.unknown)
    let attempts = environment.attempts.value
    let (result, orphans) = state.withLock { state in
      state.settle(news: news, present, options, attempts, at: now)
      let result = body(&state, now)
      // A ticket whose sync is not planned is resolved without an outcome.
      let orphans = state.machine.next(after: now) == nil ? state.takeTickets(running: false) : []
      // Sent under the lock, so that statuses arrive in order.
      feed.send(state.status(at: now))
      return (result, orphans)
    }
    for ticket in orphans { ticket.resolve(nil) }
    return result
  }

  /// Reports the pending events to the observer, in order.
  ///
  /// One thread at a time reports. It also reports the events that other threads and the observer
  /// itself add meanwhile.
  private func reportEvents() {
    let isMine = state.withLock { state in
      defer { state.isReporting = true }
      return !state.isReporting
    }
    guard isMine else { return }
    while let event = state.withLock({ $0.nextEvent() }) { observe(event) }
  }
}

extension SyncCoordinator {
  /// Reports that the app was launched and its ``Bootstrap`` is loaded.
  ///
  /// Submits the background requests, and asks for a sync if the last attempt is old enough.
  public func launch() {
    submitAll()
    signal(.launch)
  }

  /// Reports that the app came to the foreground.
  ///
  /// Asks for a sync if the last attempt is old enough, but only after the first sync has been
  /// completed. A sync that was cut short by the end of background time or of the network resumes
  /// now, however fresh the attempt and even if it was the first sync.
  public func foreground() {
    signal(.foreground)
  }

  /// Reports that the app went to the background, and submits the background requests.
  public func background() {
    submitAll()
  }

  /// Asks for a sync, unless the network is known to be away.
  ///
  /// The sync begins after the call, whatever sync of the app's own is running, so it sends all
  /// edits made before the call.
  ///
  /// - Parameter first: The types to sync first, with the types that they refer to. A running sync
  ///   turns to them after its current page.
  ///   A type that the schema lacks is left out, and told by ``Event/unknownTypes(_:)``.
  public func requestSync(first: [RecordType] = []) {
    let first = known(first)
    if !first.isEmpty { engine.prioritize(first) }
    signal(.request, first: first)
  }

  /// Asks for a sync if the last attempt is older than an age.
  ///
  /// The last attempt counts, not the last success. An app's own pull of all types through the
  /// engine is an attempt as well. The call does nothing while the network is known to be away.
  ///
  /// - Parameter age: The age; ``Options/staleAfter`` if omitted.
  public func requestSyncIfStale(olderThan age: Duration? = nil) {
    signal(.requestIfStale(olderThan: age ?? options.staleAfter))
  }

  /// Reports that the remote announced a change. Signals in quick succession start one sync.
  ///
  /// Its pull begins after the signal, whatever sync of the app's own is running.
  ///
  /// - Parameter first: The types that the signal names, which are synced first. A type that this
  ///   version of the app does not know is left out, and told by ``Event/unknownTypes(_:)``.
  public func pushSignal(first: [RecordType] = []) {
    signal(.pushSignal, first: known(first))
  }

  private func known(_ types: [RecordType]) -> [RecordType] {
    let unknown = types.filter { engine.schema[$0] == nil }
    if unknown.isEmpty { return types }
    update { state, _ in state.events.append(.unknownTypes(unknown)) }
    return types.filter { engine.schema[$0] != nil }
  }

  private func signal(_ trigger: SyncTrigger, first: [RecordType] = []) {
    update { state, now in _ = state.report(trigger, first: first, at: now) }
    workSignal.signal()
  }
}

extension SyncCoordinator {
  /// Runs the coordinator until the calling task is cancelled.
  ///
  /// On cancellation, the sync under way stops after its current page, and everything is saved. The
  /// coordinator may be run again afterwards. A second call during a run returns at once.
  public func run() async {
    let isFirst = update { state, _ in
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isFirst else { return }
    // An unreadable store is reported by the first sync. Until then the pace is that of an app that
    // never synced.
    let record =
      (try? await PacingState.load(engine.schema.entities.map(\.type), from: engine.environment.store))
      ?? PacingState()
    update { state, now in state.add(state.machine.begin(record, at: now)) }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.watchNetwork() }
      group.addTask { await self.watchAttempts() }
      group.addTask { await self.reportWatcherEvents() }
      group.addTask { await self.serveBackground() }
      if let interval = options.every { group.addTask { await self.ask(every: interval) } }
      group.addTask { await self.watchEdits() }
      await workOff()
      end()
      group.cancelAll()
    }
  }

  private func end() {
    let tickets = update { state, _ in
      state.machine.suspend()
      state.isRunning = false
      return state.takeTickets(running: false)
    }
    for ticket in tickets { ticket.resolve(nil) }
  }

  private func watchNetwork() async {
    guard let monitor = engine.environment.connectivity else { return }
    for await status in monitor.statuses() { observe(status) }
  }

  /// Observes the syncs that the app starts itself, which count for the staleness gate.
  private func watchAttempts() async {
    for await _ in engine.environment.attempts.stream() { observe() }
  }

  /// Reports edits that are new in the outbox, of this process and of others.
  private func watchEdits() async {
    guard options.pushesEdits, engine.environment.sink != nil else { return }
    await NewEdits(engine).follow { areEarlier in
      // A sync that is planned or has begun by now sends earlier ones anyway.
      if areEarlier, state.withLock({ $0.machine.isSyncAhead }) { return }
      signal(.edit)
    }
  }

  /// Reports the watchers' events to the observer.
  ///
  /// A task of its own does this, so that a slow observer cannot delay the network's news.
  private func reportWatcherEvents() async {
    while !Task.isCancelled {
      await eventSignal.wait()
      reportEvents()
    }
  }

  /// Asks for a sync each time that the last attempt is older than an interval.
  private func ask(every interval: Duration) async {
    let (clock, interval) = (engine.environment.clock, max(interval, .seconds(1)))
    while !Task.isCancelled {
      var pause = status.lastAttempt.map { ($0 + interval).duration(since: clock.timestamp) } ?? .zero
      // An attempt in the future was stamped by a clock that has been set back since.
      if pause <= .zero || pause > interval {
        requestSyncIfStale(olderThan: interval)
        pause = interval
      }
      // It ends early only on cancellation of the task.
      try? await clock.pause(for: pause, as: .trigger)
    }
  }

  private func workOff() async {
    while !Task.isCancelled {
      switch update({ state, now in state.step(at: now) }) {
      case .run(let run): await perform(run)
      case .wait(let due):
        await sleep(until: due)
        // A process that was asleep receives its timer and the network's news together. The news go
        // first.
        await Task.yield()
      case .idle: await workSignal.wait()
      }
    }
  }

  /// Waits until a time, or for the next signal.
  private func sleep(until due: Duration) async {
    let (clock, elapsed, workSignal) = (engine.environment.clock, elapsed, workSignal)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        // A sleep ends early only on cancellation of its task, which the caller checks anyway.
        try? await clock.pause(for: due - elapsed(), as: .trigger)
      }
      group.addTask { await workSignal.wait() }
      await group.next()
      group.cancelAll()
    }
  }

  private func perform(_ run: TriggerMachine.Run) async {
    let (record, token) = update { state, _ in (state.machine.record, state.currentToken) }
    await save(record)
    let outcome = await step(run, token: token ?? CancellationSource())
    let random = engine.environment.random.next()
    let (tickets, kept) = update { state, now in
      let run = state.machine.running ?? run
      let retry = state.machine.finished(
        outcome.ending(isExpired: state.currentToken?.isCancelled == true), at: now, random: random)
      state.problem = Problem(outcome)
      state.currentToken = nil
      state.events.append(.finished(run.triggers, outcome))
      if let retry { state.events.append(.trigger(.retry, retry)) }
      return (state.takeTickets(running: true), state.machine.record)
    }
    await save(kept)
    for ticket in tickets { ticket.resolve(outcome) }
  }

  /// Pushes, then pulls, then cleans up if the run includes that.
  private func step(_ run: TriggerMachine.Run, token: CancellationSource) async -> SyncOutcome {
    let outcome: SyncOutcome
    do throws(SyncError) {
      try await push?(token)
      // The trigger came before now, so a sync that has already begun may have missed it. A sync of
      // another process is not awaited: the pause after failures covers that, and its end is
      // reported.
      let request = SyncRequest(
        priority: run.first, ifBusy: .follow, patience: .zero, triggers: run.triggers)
      let result = try await engine.sync(request, token: token) {
        // Triggers that came during the wait are served too, unless edits were sent before.
        if push == nil { update { state, _ in state.absorb() } }
      }
      outcome = SyncOutcome(.success(result))
    } catch {
      outcome = SyncOutcome(.failure(error))
    }
    let run = update { state, _ in state.machine.running ?? run }
    guard run.cleansUp, let cleanUp, !token.isCancelled, !Task.isCancelled else { return outcome }
    do throws(SyncError) {
      try await cleanUp(token)
      update { state, _ in state.events.append(.cleanedUp(nil)) }
    } catch {
      update { state, _ in state.events.append(.cleanedUp(error)) }
    }
    return outcome
  }

  private func save(_ record: PacingState) async {
    // A store that cannot save this cannot save a page either, and the sync reports that.
    try? await record.save(in: engine.environment.store)
  }
}

extension SyncCoordinator {
  /// Submits a background request of each kind.
  private func submitAll() {
    for kind in BackgroundRequest.Kind.allCases { submit(kind) }
  }

  private func submit(_ kind: BackgroundRequest.Kind) {
    guard let scheduler else { return }
    let request = options.background.request(for: kind)
    let event: Event
    do throws(SyncError) {
      event = .submitted(request, earliest: try scheduler.submit(request))
    } catch {
      event = .notSubmitted(request, error)
    }
    update { state, _ in state.events.append(event) }
  }

  /// Uses the time that the scheduler gives, until the task is cancelled.
  private func serveBackground() async {
    await scheduler?.run { kind, token in await self.spend(token, on: kind) }
  }

  /// Reports a background trigger, and stops whatever sync runs when the time is up.
  private func spend(_ token: any CancellationToken, on kind: BackgroundRequest.Kind) async
    -> BackgroundOutcome
  {
    submit(kind)
    let ticket = RunTicket()
    let isPlanned = update { state, now in
      guard state.machine.isReady, state.report(.background(kind), at: now)?.isPlanned == true else {
        return false
      }
      state.tickets.append((ticket, isRunning: false))
      return true
    }
    guard isPlanned else { return .succeeded }
    workSignal.signal()
    let stop = StopSignal(token: token)
    let clock = engine.environment.clock
    let outcome = await withTaskGroup(of: SyncOutcome??.self) { group in
      group.addTask { .some(await ticket.outcome()) }
      group.addTask {
        await stop.wait(clock: clock)
        return nil
      }
      while let next = await group.next() {
        guard let outcome = next else {
          // Cancellation of the task itself stops the coordinator, and with it the sync.
          if token.isCancelled { expire(ticket, kind) }
          continue
        }
        group.cancelAll()
        return outcome
      }
      return nil
    }
    // Work done before the time was up is saved. An unreachable remote is not a failure here.
    if case .failed = outcome { return .failed }
    return .succeeded
  }

  private func expire(_ ticket: RunTicket, _ kind: BackgroundRequest.Kind) {
    let (current, isWithdrawn) = update { state, _ in
      state.events.append(.expired(kind))
      let index = state.tickets.firstIndex { $0.ticket === ticket && !$0.isRunning }
      if let index {
        state.tickets.remove(at: index)
        state.machine.withdraw(.background(kind))
      }
      return (state.currentToken, index != nil)
    }
    if isWithdrawn { ticket.resolve(nil) }
    // The process has to stop, so the running sync stops whatever its trigger.
    current?.cancel()
  }
}
