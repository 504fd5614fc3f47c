import SyncModels
import SyncPorts

extension SyncCoordinator {
  /// Does all the work, until the calling task is cancelled; then the sync under way stops at its next page, and everything is saved.
  ///
  /// It may be run again afterwards. A second call while one is running returns at once.
  public func run() async {
    guard begin() else { return }
    let record = try? await PacingState.load(
      engine.schema.entities.map(\.type), from: engine.environment.store)
    // A store that cannot be read says so in the first sync; its pace is then that of an app that never synced.
    makeReady(record ?? PacingState())
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.watchNetwork() }
      group.addTask { await self.watchAttempts() }
      group.addTask { await self.tellNews() }
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
      // A loss that was seen until now says nothing of the next start.
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

  /// Hears of syncs that the app starts by itself, which count for the staleness gate.
  private func watchAttempts() async {
    for await _ in engine.environment.attempts.stream() { note() }
  }

  /// Tells the observer what the watchers noted: a slow one must not keep them from seeing the network as it is.
  private func tellNews() async {
    while !Task.isCancelled {
      await untold.wait()
      tellEvents()
    }
  }

  private func workOff() async {
    while !Task.isCancelled {
      switch update({ state, now in state.step(at: now) }) {
      case .run(let run): await perform(run)
      case .wait(let due):
        await sleep(until: due)
        // A process that was asleep wakes to its timer and to the network's news at once; the news go first.
        await Task.yield()
      case .idle: await bell.wait()
      }
    }
  }

  /// Waits for a time, or for the next signal.
  private func sleep(until due: Duration) async {
    let (timeline, bell) = (timeline, bell)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await timeline.sleep(until: due) }
      group.addTask { await bell.wait() }
      await group.next()
      group.cancelAll()
    }
  }

  private func perform(_ run: TriggerMachine.Run) async {
    let (record, token) = update { state, _ in (state.triggers.record, state.currentToken) }
    await save(record)
    let outcome = await step(run, token: token ?? CancellationSource())
    let random = engine.environment.random()
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

  /// Push, then pull, then clean-up where there is time for it.
  private func step(_ run: TriggerMachine.Run, token: CancellationSource) async -> SyncOutcome {
    let outcome: SyncOutcome
    do throws(SyncError) {
      try await push?(token)
      // What asked for it came before now, so a sync that has begun already may have missed it. Another process is
      // not waited for: the pause after failures sees to that, and tells until when.
      let request = SyncRequest(priority: run.first, ifBusy: .follow, patience: .zero)
      let result = try await engine.sync(request, token: token) {
        // What came while it waited is served by it, too, unless edits were sent before.
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
    // A store that cannot take this note cannot take a page either, and that is where it is reported.
    try? await record.save(in: engine.environment.store)
  }
}
