import SyncModels
import SyncPorts

/// What a ``SyncCoordinator`` keeps under its lock: the machines, and who waits for what.
struct CoordinatorState {
  var triggers: TriggerMachine
  var debounce: DebounceMachine
  var isRunning = false
  /// Whether what earlier processes left has been read, so that triggers can be decided on.
  var isReady = false
  /// The network as the monitor's stream has told it so far.
  var network: NetworkStatus
  /// What was heard last of syncs that this process began.
  var attempts = Attempts()
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

  /// What the machines are told before anything else: the network as it was and is, what the app did by itself, and that their time has come.
  ///
  /// - Parameters:
  ///   - news: What the monitor's stream tells, which may be older than what the monitor says now.
  ///   - connectivity: What the monitor says now.
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
    // Where nobody knows whether it stays, there is no staying to wait for.
    if connectivity == .unknown, redeem(at: now) { debounce.forgive() }
    if debounce.isRegained(at: now.elapsed) { report(.connectivityRestored, at: now) }
  }

  /// Takes note of syncs that were begun and completed since the last time.
  private mutating func hear(_ attempts: Attempts) {
    guard attempts != self.attempts else { return }
    let isSuccess = attempts.lastSuccess != self.attempts.lastSuccess
    triggers.heard(
      begin: attempts.lastBegin == self.attempts.lastBegin ? nil : attempts.lastBegin,
      success: isSuccess ? attempts.lastSuccess : nil)
    if isSuccess { problem = nil }
    self.attempts = attempts
  }

  /// Begins to work, with what earlier processes left and what was signalled before.
  mutating func begin(_ record: PacingState, at now: Moment) {
    isReady = true
    triggers.restore(record, at: now)
    triggers.heard(
      begin: Self.newer(attempts.lastBegin, than: record.lastAttempt),
      success: Self.newer(attempts.lastSuccess, than: record.lastSuccess))
    let early = early
    self.early = []
    for (trigger, first) in early { report(trigger, first: first, at: now) }
    _ = redeem(at: now)
    // A sync that starts at once serves for a network that came back before this.
    if let next = triggers.next(after: now), next.waitsFor == nil { debounce.forgive() }
  }

  private static func newer(_ time: Timestamp?, than other: Timestamp?) -> Timestamp? {
    guard let time, let other else { return time }
    return time > other ? time : nil
  }

  /// Plans what was promised when the network was known to be away; whether that was anything.
  private mutating func redeem(at now: Moment) -> Bool {
    let requests = triggers.redeem()
    for request in requests { report(request.trigger, first: request.first, at: now) }
    return !requests.isEmpty
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

  /// The sync handed out had to wait for one of the app's own, and begins only now.
  mutating func absorb() {
    triggers.absorb()
    runningTickets += plannedTickets
    plannedTickets = []
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
