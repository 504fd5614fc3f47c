import SyncModels
import SyncPorts

/// What a ``SyncCoordinator`` keeps under its lock: the machines, and who waits for what.
struct CoordinatorState {
  var triggers: TriggerMachine
  var debounce: DebounceMachine
  var isRunning = false
  /// Whether what earlier processes left has been read, so that triggers can be decided on.
  var isReady = false
  var network: NetworkStatus
  var problem: SyncCoordinator.Problem?
  /// Triggers from before the machine was ready.
  var early: [(trigger: SyncTrigger, first: [RecordType])] = []
  var plannedTickets: [RunTicket] = []
  var runningTickets: [RunTicket] = []
  var currentToken: CancellationSource?
  /// Tickets whose sync will not be.
  var refused: [RunTicket] = []
  /// What is to be told once the lock is open, the oldest first.
  var events: [SyncCoordinator.Event] = []
  /// Whether somebody is telling it.
  var isTelling = false

  /// Something asks for a sync.
  mutating func report(
    _ trigger: SyncTrigger, first: [RecordType] = [], ticket: RunTicket? = nil, at now: Moment
  ) {
    guard isReady else {
      if !early.contains(where: { $0.trigger == trigger && $0.first == first }) {
        early.append((trigger, first))
      }
      return
    }
    let decision = triggers.report(trigger, first: first, at: now)
    events.append(.trigger(trigger, decision))
    guard let ticket else { return }
    if case .ignored = decision { refused.append(ticket) } else { plannedTickets.append(ticket) }
  }

  /// What the machines are told before anything else: the network as it is, and that its time has come.
  mutating func settle(isOffline: Bool, at now: Moment) {
    triggers.network(isOffline: isOffline)
    if isReady, debounce.isRegained(at: now.elapsed) { report(.connectivityRestored, at: now) }
  }

  /// Begins what is due; a sync that is handed out has begun.
  mutating func step(at now: Moment) -> TriggerMachine.Step {
    let step = triggers.step(at: now)
    switch step {
    case .run(let run):
      runningTickets = plannedTickets
      plannedTickets = []
      currentToken = CancellationSource()
      events.append(.started(run.triggers))
      return step
    case .wait(let due):
      return .wait(until: min(due, debounce.due ?? due))
    case .idle:
      return debounce.due.map { .wait(until: $0) } ?? .idle
    }
  }

  /// Takes the tickets whose sync is not planned, or no longer; their holders are to be told.
  mutating func takeOrphanedTickets(at now: Moment) -> [RunTicket] {
    if triggers.next(after: now) == nil {
      refused += plannedTickets
      plannedTickets = []
    }
    defer { refused = [] }
    return refused
  }

  /// Takes the next event to tell; without one, nobody is telling any more.
  mutating func nextEvent() -> SyncCoordinator.Event? {
    if events.isEmpty {
      isTelling = false
      return nil
    }
    return events.removeFirst()
  }

  /// Where things stand.
  func status(at now: Moment) -> SyncCoordinator.Status {
    let settling = debounce.due.map {
      NextSync(at: now.timestamp(at: $0), triggers: [.connectivityRestored], waitsFor: .settling)
    }
    return SyncCoordinator.Status(
      network: network,
      state: triggers.running.map { .syncing($0.triggers) } ?? (isRunning ? .idle : .stopped),
      lastAttempt: triggers.record.lastAttempt, lastSuccess: triggers.record.lastSuccess,
      consecutiveFailures: triggers.record.failures, lastProblem: problem,
      nextSync: [triggers.next(after: now), settling].compactMap(\.self).min { $0.at < $1.at })
  }
}
