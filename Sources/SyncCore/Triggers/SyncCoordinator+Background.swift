import SyncModels
import SyncPorts

extension SyncCoordinator {
  /// Submits a background request of each kind.
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

  /// Uses the time that the scheduler gives, until the task is cancelled.
  func serveBackground() async {
    await scheduler?.run { kind, token in await self.spend(token, on: kind) }
  }

  /// Reports a background trigger, and stops whatever sync runs when the time is up.
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
      let index = state.plannedTickets.firstIndex { $0 === ticket }
      if let index {
        state.plannedTickets.remove(at: index)
        state.triggers.withdraw(.background(kind))
      }
      return (state.currentToken, index != nil)
    }
    if isWithdrawn { ticket.resolve(nil) }
    // The process has to stop, so the running sync stops whatever its trigger.
    current?.cancel()
  }
}
