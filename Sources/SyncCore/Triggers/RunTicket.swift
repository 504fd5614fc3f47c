import Synchronization

/// Somebody's share in a sync that is planned: it is told how that ended, or that it will not be.
final class RunTicket: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<SyncOutcome?, Never>)
    case resolved(SyncOutcome?)
  }
  private let state = Mutex(State.open)

  /// Tells the outcome; only the first counts.
  func resolve(_ outcome: SyncOutcome?) {
    let waiter = state.withLock { state -> CheckedContinuation<SyncOutcome?, Never>? in
      switch state {
      case .open:
        state = .resolved(outcome)
        return nil
      case .awaited(let waiter):
        state = .resolved(outcome)
        return waiter
      case .resolved:
        return nil
      }
    }
    waiter?.resume(returning: outcome)
  }

  /// Waits for the outcome, whatever becomes of the waiting task: the coordinator resolves every ticket.
  func outcome() async -> SyncOutcome? {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> SyncOutcome?? in
        if case .resolved(let outcome) = state { return .some(outcome) }
        state = .awaited(continuation)
        return nil
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}
