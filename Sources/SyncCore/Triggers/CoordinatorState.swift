import SyncModels
import SyncPorts
import Synchronization

/// The state of a ``SyncCoordinator`` under its lock.
struct CoordinatorState {
  var machine: TriggerMachine
  /// The network status that the monitor's stream last reported.
  var network: NetworkStatus
  var isRunning = false
  var problem: SyncCoordinator.Problem?
  /// The callers that wait for the planned sync or for the running one.
  var tickets: [(ticket: RunTicket, isRunning: Bool)] = []
  var currentToken: CancellationSource?
  /// The events to report to the observer after the lock is released, oldest first.
  var events: [SyncCoordinator.Event] = []
  /// Whether a thread is reporting events.
  var isReporting = false

  init(machine: TriggerMachine, network: NetworkStatus) {
    self.machine = machine
    self.network = network
  }

  /// Reports a trigger to the machine.
  mutating func report(
    _ trigger: SyncTrigger, first: [RecordType] = [], at now: Moment
  ) -> SyncDecision? {
    let decision = machine.report(trigger, first: first, at: now)
    if let decision { events.append(.trigger(trigger, decision)) }
    return decision
  }

  /// Adds the events of decided triggers.
  mutating func add(_ decided: [TriggerMachine.Decided]) {
    events += decided.map { .trigger($0.trigger, $0.decision) }
  }

  /// Updates the machine with the network status, the app's own syncs and the current time.
  ///
  /// It precedes every other change of the state.
  ///
  /// - Parameters:
  ///   - news: The status from the monitor's stream, which may be older than `present`.
  ///   - present: What the monitor reports now.
  mutating func settle(
    news: NetworkStatus?, _ present: NetworkStatus, _ options: SyncCoordinator.Options, _ attempts: Attempts,
    at now: Moment
  ) {
    if machine.hear(attempts) { problem = nil }
    if let news {
      if network != news { events.append(.network(news)) }
      network = news
    }
    let seen = [news, present].compactMap { $0.map(options.connectivity(by:)) }
    add(machine.observe(seen, at: now))
  }

  /// Returns the next step. A sync that is returned has begun.
  mutating func step(at now: Moment) -> TriggerMachine.Step {
    let step = machine.step(at: now)
    if case .run(let run) = step {
      startTickets()
      currentToken = CancellationSource()
      events.append(.started(run.triggers))
    }
    return step
  }

  /// Adds the planned triggers to the running sync, which waited and begins only now.
  mutating func absorb() {
    machine.absorb()
    startTickets()
  }

  private mutating func startTickets() {
    for index in tickets.indices { tickets[index].isRunning = true }
  }

  /// Removes and returns the tickets of the planned or of the running sync.
  mutating func takeTickets(running isRunning: Bool) -> [RunTicket] {
    defer { tickets.removeAll { $0.isRunning == isRunning } }
    return tickets.filter { $0.isRunning == isRunning }.map(\.ticket)
  }

  /// Takes the next event to report. Without one, it ends the reporting.
  mutating func nextEvent() -> SyncCoordinator.Event? {
    if events.isEmpty {
      isReporting = false
      return nil
    }
    return events.removeFirst()
  }

  /// Returns the coordinator's status.
  func status(at now: Moment) -> SyncCoordinator.Status {
    let settling = machine.regained.map {
      NextSync(at: now.timestamp(at: $0), triggers: [.connectivityRestored], waitsFor: .settling)
    }
    return SyncCoordinator.Status(
      network: network,
      state: machine.running.map { .syncing($0.triggers) } ?? (isRunning ? .idle : .stopped),
      lastAttempt: machine.record.lastAttempt, lastSuccess: machine.record.lastSuccess,
      consecutiveFailures: machine.record.failures, lastProblem: problem,
      nextSync: [machine.next(after: now), settling].compactMap(\.self).min { $0.at < $1.at })
  }
}

/// A caller's share in a planned sync, resolved with its outcome or with `nil`.
///
/// `nil` means that the sync will not take place.
final class RunTicket: Sendable {
  private let state = Mutex<(waiter: CheckedContinuation<SyncOutcome?, Never>?, outcome: SyncOutcome??)>(
    (nil, nil))

  /// Resolves the ticket; only the first call counts.
  func resolve(_ outcome: SyncOutcome?) {
    let waiter = state.withLock { state in
      if state.outcome == nil { state.outcome = .some(outcome) }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: outcome)
  }

  /// Waits for the outcome.
  ///
  /// The wait ignores cancellation of the task: the coordinator resolves every ticket.
  func outcome() async -> SyncOutcome? {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state in
        if state.outcome == nil { state.waiter = continuation }
        return state.outcome
      }
      if let known { continuation.resume(returning: known) }
    }
  }
}
