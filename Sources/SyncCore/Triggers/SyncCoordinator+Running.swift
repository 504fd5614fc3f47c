import SyncModels
import SyncPorts

extension SyncCoordinator {
  /// Does all the work, until the calling task is cancelled; then the sync under way stops at its next page, and everything is saved.
  ///
  /// It may be run again afterwards. A second call while one is running returns at once.
  public func run() async {
    guard begin() else { return }
    let record = try? await SyncRecord.load(
      engine.graph.entities.map(\.type), from: engine.environment.store)
    // A store that cannot be read says so in the first sync; its pace is then that of an app that never synced.
    makeReady(record ?? SyncRecord())
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.watchNetwork() }
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

  private func makeReady(_ record: SyncRecord) {
    update { state, now in
      state.isReady = true
      // A loss that was seen before says nothing of this start.
      state.debounce = DebounceMachine(settleTime: options.settleTime)
      state.triggers.restore(record, at: now)
      let early = state.early
      state.early = []
      for (trigger, first) in early { state.report(trigger, first: first, at: now) }
    }
  }

  private func end() {
    let tickets = update { state, _ in
      state.isReady = false
      state.isRunning = false
      defer { state.plannedTickets = [] }
      return state.plannedTickets
    }
    for ticket in tickets { ticket.resolve(nil) }
  }

  private func watchNetwork() async {
    guard let monitor = engine.environment.connectivity else { return }
    for await status in monitor.statuses() {
      update { state, now in
        if state.network != status { state.events.append(.network(status)) }
        state.network = status
        state.debounce.observed(status.connectivity, at: now.elapsed)
      }
      bell.ring()
    }
  }

  private func workOff() async {
    while !Task.isCancelled {
      switch update({ state, now in state.step(at: now) }) {
      case .run(let run): await perform(run)
      case .wait(let due): await sleep(until: due)
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
      let retry = state.triggers.finished(outcome.ending, at: now, random: random)
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
      let request = SyncRequest(priority: run.first, ifBusy: .join)
      outcome = SyncOutcome(.success(try await engine.sync(request, token: token)))
    } catch {
      outcome = SyncOutcome(.failure(error))
    }
    guard run.cleansUp, let cleanUp, !token.isCancelled, !Task.isCancelled else { return outcome }
    do throws(SyncError) {
      try await cleanUp(token)
      update { state, _ in state.events.append(.cleanedUp(nil)) }
    } catch {
      update { state, _ in state.events.append(.cleanedUp(error)) }
    }
    return outcome
  }

  private func save(_ record: SyncRecord) async {
    // A store that cannot take this note cannot take a page either, and that is where it is reported.
    try? await record.save(in: engine.environment.store)
  }
}
