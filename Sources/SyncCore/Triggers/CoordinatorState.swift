import SyncModels
import SyncPorts

/// The state of a ``SyncCoordinator`` under its lock: the machines, tickets and events.
struct CoordinatorState {
  var triggers: TriggerMachine
  var debounce: DebounceMachine
  var isRunning = false
  /// Whether the state of earlier processes is loaded, so that triggers can be decided.
  var isReady = false
  /// The network status that the monitor's stream last reported.
  var network: NetworkStatus
  /// The syncs of this process, as last read from the engine.
  var attempts = Attempts()
  var problem: SyncCoordinator.Problem?
  /// Triggers reported before the machine was ready.
  var early: [(trigger: SyncTrigger, first: [RecordType])] = []
  var plannedTickets: [RunTicket] = []
  var runningTickets: [RunTicket] = []
  var currentToken: CancellationSource?
  /// Tickets whose sync was refused or dropped.
  var refused: [RunTicket] = []
  /// The events to report to the observer after the lock is released, oldest first.
  var events: [SyncCoordinator.Event] = []
  /// Whether a thread is reporting events.
  var isReporting = false

  /// Reports a trigger to the machine.
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

  /// Updates the machines with the network status, the app's own syncs and the current time.
  ///
  /// It precedes every other change of the state.
  ///
  /// - Parameters:
  ///   - news: The status from the monitor's stream, which may be older than `connectivity`.
  ///   - connectivity: What the monitor reports now.
  mutating func settle(
    news: NetworkStatus? = nil, _ connectivity: Connectivity, _ attempts: Attempts, at now: Moment
  ) {
    hear(attempts)
    if let news {
      if network != news { events.append(.network(news)) }
      network = news
      debounce.observed(news.connectivity, at: now.elapsed)
    }
    debounce.observed(connectivity, at: now.elapsed)
    triggers.network(isOffline: connectivity == .offline)
    guard isReady else { return }
    // A monitor that cannot tell gives no later news to wait for.
    if connectivity == .unknown, planOwed(at: now) { debounce.forgetLoss() }
    if debounce.isRegained(at: now.elapsed) { report(.connectivityRestored, at: now) }
  }

  /// Records syncs that began or completed since the last call.
  private mutating func hear(_ attempts: Attempts) {
    guard attempts != self.attempts else { return }
    let isSuccess = attempts.lastSuccess != self.attempts.lastSuccess
    triggers.heard(
      begin: attempts.lastBegin == self.attempts.lastBegin ? nil : attempts.lastBegin,
      success: isSuccess ? attempts.lastSuccess : nil)
    if isSuccess { problem = nil }
    self.attempts = attempts
  }

  /// Starts deciding, with the state of earlier processes and the triggers reported so far.
  mutating func begin(_ record: PacingState, at now: Moment) {
    isReady = true
    triggers.restore(record, at: now)
    triggers.heard(
      begin: Self.newer(attempts.lastBegin, than: record.lastAttempt),
      success: Self.newer(attempts.lastSuccess, than: record.lastSuccess))
    let early = early
    self.early = []
    for (trigger, first) in early { report(trigger, first: first, at: now) }
    _ = planOwed(at: now)
    // A sync that starts at once also serves a network that came back before it.
    if let next = triggers.next(after: now), next.waitsFor == nil { debounce.forgetLoss() }
  }

  private static func newer(_ time: Timestamp?, than other: Timestamp?) -> Timestamp? {
    guard let time, let other else { return time }
    return time > other ? time : nil
  }

  /// Plans the syncs that were promised while the network was known to be away.
  ///
  /// - Returns: Whether there were any.
  private mutating func planOwed(at now: Moment) -> Bool {
    let requests = triggers.takeOwed()
    for request in requests { report(request.trigger, first: request.first, at: now) }
    return !requests.isEmpty
  }

  /// Returns the next step. A sync that is returned has begun.
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

  /// Adds the planned triggers to the running sync, which waited and begins only now.
  mutating func absorb() {
    triggers.absorb()
    runningTickets += plannedTickets
    plannedTickets = []
  }

  /// Takes the tickets whose sync is not planned, to be resolved without an outcome.
  mutating func takeOrphanedTickets(at now: Moment) -> [RunTicket] {
    if triggers.next(after: now) == nil {
      refused += plannedTickets
      plannedTickets = []
    }
    defer { refused = [] }
    return refused
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
