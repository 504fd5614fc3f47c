import SyncModels
import SyncPorts

extension SyncCoordinator {
  /// Runs the coordinator until the calling task is cancelled.
  ///
  /// On cancellation, the sync under way stops after its current page, and everything is saved. The
  /// coordinator may be run again afterwards. A second call during a run returns at once.
  public func run() async {
    guard begin() else { return }
    let record = try? await PacingState.load(
      engine.schema.entities.map(\.type), from: engine.environment.store)
    // An unreadable store is reported by the first sync. Until then the pace is that of an app that
    // never synced.
    makeReady(record ?? PacingState())
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.watchNetwork() }
      group.addTask { await self.watchAttempts() }
      group.addTask { await self.reportWatcherEvents() }
      group.addTask { await self.serveBackground() }
      await workOff()
      end()
      group.cancelAll()
    }
  }

  private func begin() -> Bool {
    update { state, _ in
      defer { state.isRunning = true }
      return !state.isRunning
    }
  }

  private func makeReady(_ record: PacingState) {
    update { state, now in state.begin(record, at: now) }
  }

  private func end() {
    let tickets = update { state, _ in
      state.isReady = false
      state.isRunning = false
      // A loss seen in this run does not count in the next run.
      state.debounce = DebounceMachine(settleTime: options.settleTime)
      defer { state.plannedTickets = [] }
      return state.plannedTickets
    }
    for ticket in tickets { ticket.resolve(nil) }
  }

  private func watchNetwork() async {
    guard let monitor = engine.environment.connectivity else { return }
    for await status in monitor.statuses() { note(news: status) }
  }

  /// Observes the syncs that the app starts itself, which count for the staleness gate.
  private func watchAttempts() async {
    for await _ in engine.environment.attempts.stream() { note() }
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
    let (timeline, workSignal) = (timeline, workSignal)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await timeline.sleep(until: due) }
      group.addTask { await workSignal.wait() }
      await group.next()
      group.cancelAll()
    }
  }

  private func perform(_ run: TriggerMachine.Run) async {
    let (record, token) = update { state, _ in (state.triggers.record, state.currentToken) }
    await save(record)
    let outcome = await step(run, token: token ?? CancellationSource())
    let random = engine.environment.random.next()
    let (tickets, kept) = update { state, now in
      let run = state.triggers.running ?? run
      let retry = state.triggers.finished(
        outcome.ending(isExpired: state.currentToken?.isCancelled == true), at: now, random: random)
      state.problem = Problem(outcome)
      state.currentToken = nil
      state.events.append(.finished(run.triggers, outcome))
      if let retry { state.events.append(.trigger(.retry, retry)) }
      defer { state.runningTickets = [] }
      return (state.runningTickets, state.triggers.record)
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
    let run = update { state, _ in state.triggers.running ?? run }
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
