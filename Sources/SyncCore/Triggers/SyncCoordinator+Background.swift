import SyncModels
import SyncPorts

extension SyncCoordinator {
  /// Asks for time in the background, of each kind.
  func submitAll() {
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

  /// Takes the time that the system gives, as long as there is any.
  func serveBackground() async {
    await scheduler?.run { kind, token in await self.spend(token, on: kind) }
  }

  /// Has a sync of its own in the coordinator's turn, and stops whatever runs when the time is up.
  private func spend(_ token: any CancellationToken, on kind: BackgroundRequest.Kind) async
    -> BackgroundOutcome
  {
    submit(kind)
    let ticket = RunTicket()
    let isTaken = update { state, now in
      guard state.isReady else { return false }
      state.report(.background(kind), ticket: ticket, at: now)
      return true
    }
    guard isTaken else { return .succeeded }
    bell.ring()
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
          // The task's own cancellation stops the coordinator, and with it the sync.
          if token.isCancelled { expire(ticket, kind) }
          continue
        }
        group.cancelAll()
        return outcome
      }
      return nil
    }
    // What was done before the time was up is saved, and that the remote was away is nobody's failure.
    if case .failed = outcome { return .failed }
    return .succeeded
  }

  private func expire(_ ticket: RunTicket, _ kind: BackgroundRequest.Kind) {
    let (current, isWithdrawn) = update { state, _ in
      state.events.append(.expired(kind))
      let index = state.plannedTickets.firstIndex { $0 === ticket }
      if let index {
        state.plannedTickets.remove(at: index)
        state.triggers.withdraw(.background(kind))
      }
      return (state.currentToken, index != nil)
    }
    if isWithdrawn { ticket.resolve(nil) }
    // Whoever asked for the sync under way: it is the process that has to stop.
    current?.cancel()
  }
}
