import Synchronization

/// A caller's share in a planned sync, resolved with its outcome or with `nil`.
///
/// `nil` means that the sync will not take place.
final class RunTicket: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<SyncOutcome?, Never>)
    case resolved(SyncOutcome?)
  }
  private let state = Mutex(State.open)

  /// Resolves the ticket; only the first call counts.
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

  /// Waits for the outcome.
  ///
  /// The wait ignores cancellation of the task: the coordinator resolves every ticket.
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
