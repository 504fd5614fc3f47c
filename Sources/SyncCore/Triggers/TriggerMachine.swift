import SyncModels
import SyncPorts

/// Decides when to sync, from all triggers and the network's state; it performs no sync.
///
/// Any number of triggers during a sync leads to one more sync. Every sync obeys the rate limit and
/// a pause that the remote asked for. Triggers that give a reason to expect success override the
/// pause after failures. A trigger that cannot be decided for good waits in one queue, with the
/// reason.
struct TriggerMachine {
  /// A sync that is about to start.
  struct Run: Hashable, Sendable {
    /// The triggers, the first one first.
    var triggers: [SyncTrigger]
    /// The types to sync first.
    var first: [RecordType]

    /// Whether clean-up follows, unless the sync was stopped.
    var cleansUp: Bool { triggers.contains(.background(.processing)) }
  }

  /// The next step.
  enum Step: Hashable {
    case run(Run)
    case wait(until: Duration)
    case idle
  }

  /// How a sync ended.
  enum Ending: Hashable {
    /// Complete, except for types whose own failure asked for a pause.
    case synced(retryAfter: Duration?)
    /// Stopped on request.
    case stopped
    /// Stopped because the time in the background was up.
    case expired
    /// The network was absent.
    ///
    /// While the network is known to be away, this does not count as an attempt. Otherwise it is a
    /// failure like any other.
    case offline
    case failed(retryAfter: Duration?)
  }

  /// A trigger, with the decision on it.
  struct Decided: Hashable {
    var trigger: SyncTrigger
    var decision: SyncDecision
  }

  /// A trigger that is decided later.
  private struct Undecided: Hashable {
    var trigger: SyncTrigger
    /// The types to sync first.
    var first: [RecordType]
    var reason: Reason

    enum Reason {
      /// The state of earlier processes is not loaded.
      case notReady
      /// The network is known to be away. Any planned sync serves the trigger.
      case offline
      /// The running sync serves the trigger, unless it is cut short.
      case running
    }
  }

  private struct Plan: Hashable {
    var run: Run
    var earliest: Duration
  }

  /// Whether a lost network counts as regained: after it has stayed for a while.
  ///
  /// Only a network that was seen to be lost can be regained. The first "online" after the start
  /// does not count, and neither does a change of interface while the network is there. An unknown
  /// state changes nothing.
  private enum Network: Hashable {
    /// No known state was seen yet.
    case unknown
    case connected
    case lost
    /// The network came back, and counts as regained at this time.
    case settling(until: Duration)
  }

  private let pacing: SyncPacing
  private let staleAge: Duration
  private let settleTime: Duration
  /// Whether triggers can be decided, because the state of earlier processes is loaded.
  private(set) var isReady = false
  private(set) var record = PacingState()
  private(set) var running: Run?
  private var planned: Plan?
  /// The triggers that are decided later, oldest first.
  private var undecided: [Undecided] = []
  private var network = Network.unknown
  private var isOffline = false
  /// The engine's own syncs, as last heard.
  private var attempts = Attempts()
  /// The start times of the last syncs, as many as the rate limit counts.
  private var starts: [Duration] = []
  private var backoffEnd: Duration?
  private var pauseEnd: Duration?

  /// Creates a machine without history.
  init(
    pacing: SyncPacing = SyncPacing(), staleAge: Duration = .seconds(300),
    settleTime: Duration = .milliseconds(2500)
  ) {
    self.pacing = pacing
    self.staleAge = staleAge
    self.settleTime = settleTime
  }

  // MARK: Triggers

  /// Starts deciding, with the state of an earlier process and the triggers reported so far.
  ///
  /// An attempt that was to follow a failure still follows it.
  mutating func begin(_ record: PacingState, at now: Moment) -> [Decided] {
    isReady = true
    restore(record, at: now)
    let decided = decide(.notReady, at: now) + decide(.offline, at: now)
    // A sync that starts at once also serves a network that came back before it.
    if let next = next(after: now), next.waitsFor == nil { forgetLoss() }
    return decided
  }

  /// Ends the decisions until the next begin.
  ///
  /// A loss of the network seen so far does not count then.
  mutating func suspend() {
    isReady = false
    network = .unknown
  }

  private mutating func restore(_ record: PacingState, at now: Moment) {
    self.record = record
    // A clock that was set meanwhile cannot make a pause longer than when it was recorded, nor
    // longer than its limit.
    func left(_ end: Timestamp?, atMost limit: Duration) -> Duration? {
      end.map { end in
        let whole = record.pausedAt.map { min(end.duration(since: $0), limit) } ?? limit
        return now.elapsed + max(min(end.duration(since: now.timestamp), whole), .zero)
      }
    }
    pauseEnd = left(record.pausedUntil, atMost: pacing.longestPause)
    backoffEnd = left(record.retryAt, atMost: pacing.failureCap)
    if backoffEnd != nil {
      isOffline ? add(.retry, first: [], .offline) : plan(.retry, first: [], from: now.elapsed)
    }
    if let begin = attempts.lastBegin, record.lastAttempt.map({ $0 < begin }) ?? true {
      self.record.lastAttempt = begin
    }
    if let success = attempts.lastSuccess, record.lastSuccess.map({ $0 < success }) ?? true {
      succeeded(at: success)
    }
  }

  /// Decides on a trigger; `nil` if it is decided later.
  mutating func report(_ trigger: SyncTrigger, first: [RecordType] = [], at now: Moment) -> SyncDecision? {
    guard isReady else {
      add(trigger, first: first, .notReady)
      return nil
    }
    return decide(trigger, first: first, at: now)
  }

  private mutating func decide(_ trigger: SyncTrigger, first: [RecordType], at now: Moment) -> SyncDecision {
    if let reason = refusal(of: trigger, at: now) {
      switch reason {
      case .offline: add(trigger, first: first, .offline)
      case .fresh, .firstSyncIncomplete: if running != nil { add(trigger, first: first, .running) }
      case .remotePause: break
      }
      return .ignored(reason)
    }
    let isJoining = planned != nil
    plan(
      trigger, first: first,
      from: now.elapsed + (trigger == .pushSignal || trigger == .edit ? pacing.gathering : .zero))
    guard running == nil, let next = next(after: now) else { return .follows }
    return isJoining ? .joined(next) : .planned(next)
  }

  /// Decides on the triggers that waited for a reason, which no longer applies.
  private mutating func decide(_ reason: Undecided.Reason, at now: Moment) -> [Decided] {
    if reason == .offline, isOffline { return [] }
    return take(reason).map {
      Decided(trigger: $0.trigger, decision: decide($0.trigger, first: $0.first, at: now))
    }
  }

  private mutating func add(_ trigger: SyncTrigger, first: [RecordType], _ reason: Undecided.Reason) {
    // Time in the background is over when the network is back, and comes again by itself.
    if reason != .notReady, trigger.isTimeInTheBackground { return }
    let entry = Undecided(trigger: trigger, first: first, reason: reason)
    if !undecided.contains(entry) { undecided.append(entry) }
  }

  @discardableResult
  private mutating func take(_ reason: Undecided.Reason) -> [Undecided] {
    defer { undecided.removeAll { $0.reason == reason } }
    return undecided.filter { $0.reason == reason }
  }

  private func refusal(of trigger: SyncTrigger, at now: Moment) -> SyncDecision.Reason? {
    if isOffline { return .offline }
    if trigger == .foreground, isAboutToSyncFirst { return .firstSyncIncomplete }
    if let age = trigger.staleAge(byDefault: staleAge),
      let opening = opening(olderThan: age, at: now.timestamp)
    {
      return .fresh(until: opening)
    }
    // Background time is too short to wait for hours.
    if case .background = trigger, let pauseEnd, pauseEnd > now.elapsed {
      return .remotePause(until: now.timestamp(at: pauseEnd))
    }
    return nil
  }

  /// The time from which an attempt is due; `nil` if it is due now.
  ///
  /// An attempt that was cut short goes on, however fresh. An attempt in the future was stamped by
  /// a clock that has been set back since, and is ignored.
  private func opening(olderThan age: Duration, at now: Timestamp) -> Timestamp? {
    guard record.interruptedAt == nil, let last = record.lastAttempt, last <= now else { return nil }
    let opening = last + age
    return opening <= now ? nil : opening
  }

  /// Whether the first sync is running or planned, or waits for the app's launch.
  private var isAboutToSyncFirst: Bool {
    record.lastSuccess == nil && (record.lastAttempt == nil || running != nil || planned != nil)
  }

  private mutating func plan(_ trigger: SyncTrigger, first: [RecordType], from earliest: Duration) {
    var plan = planned ?? Plan(run: Run(triggers: [], first: []), earliest: earliest)
    if !plan.run.triggers.contains(trigger) { plan.run.triggers.append(trigger) }
    // The types of the latest trigger stand first.
    plan.run.first = first + plan.run.first.filter { !first.contains($0) }
    plan.earliest = min(plan.earliest, earliest)
    planned = plan
    take(.offline)
  }

  /// Withdraws a trigger, and drops the planned sync if it has no other trigger.
  mutating func withdraw(_ trigger: SyncTrigger) {
    planned?.run.triggers.removeAll { $0 == trigger }
    if planned?.run.triggers.isEmpty == true { planned = nil }
  }

  // MARK: News

  /// Takes over the engine's syncs of all types, also those that the app itself began.
  ///
  /// They count as attempts, and as successes.
  ///
  /// - Returns: Whether one was completed since the last call.
  mutating func hear(_ attempts: Attempts) -> Bool {
    defer { self.attempts = attempts }
    if let begin = attempts.lastBegin, begin != self.attempts.lastBegin { record.lastAttempt = begin }
    guard let success = attempts.lastSuccess, success != self.attempts.lastSuccess else { return false }
    succeeded(at: success)
    return true
  }

  private mutating func succeeded(at time: Timestamp) {
    record.lastSuccess = time
    record.failures = 0
    record.interruptedAt = nil
    (backoffEnd, record.retryAt) = (nil, nil)
    withdraw(.retry)
  }

  /// Takes over the network's states, and decides on the triggers that waited for it.
  ///
  /// When the network goes away, the planned sync is dropped, and its triggers wait.
  ///
  /// - Parameter seen: The states since the last call, the present one last.
  mutating func observe(_ seen: [Connectivity], at now: Moment) -> [Decided] {
    for connectivity in seen {
      switch (connectivity, network) {
      case (.offline, _): network = .lost
      case (.online, .lost): network = .settling(until: now.elapsed + settleTime)
      case (.online, .unknown): network = .connected
      case (.online, .connected), (.online, .settling), (.unknown, _): break
      }
    }
    isOffline = seen.last == .offline
    if isOffline, let run = planned?.run {
      for trigger in run.triggers { add(trigger, first: run.first, .offline) }
      planned = nil
    }
    guard isReady else { return [] }
    var decided: [Decided] = []
    if seen.last == .unknown {
      // A monitor that cannot tell gives no later news to wait for.
      decided = decide(.offline, at: now)
      if !decided.isEmpty { forgetLoss() }
    }
    if let regained, now.elapsed >= regained {
      network = .connected
      let decision = decide(.connectivityRestored, first: [], at: now)
      decided.append(Decided(trigger: .connectivityRestored, decision: decision))
    }
    return decided
  }

  /// When the network counts as regained, unless it is lost again before.
  var regained: Duration? {
    if case .settling(let end) = network { end } else { nil }
  }

  /// Forgets a loss, or a return not counted yet, because a planned sync serves it.
  private mutating func forgetLoss() {
    switch network {
    case .lost: network = .unknown
    case .settling: network = .connected
    case .unknown, .connected: break
    }
  }

  // MARK: Syncs

  /// Returns the next step; a run that is returned has begun.
  mutating func step(at now: Moment) -> Step {
    guard running == nil, let plan = planned else { return regained.map { .wait(until: $0) } ?? .idle }
    let due = due(of: plan).time
    guard due <= now.elapsed else { return .wait(until: min(due, regained ?? due)) }
    planned = nil
    running = plan.run
    record.lastAttempt = now.timestamp
    record.interruptedAt = nil
    take(.running)
    starts = starts.suffix(max(pacing.runs, 1) - 1) + [now.elapsed]
    return .run(plan.run)
  }

  /// Adds the planned triggers to the running sync, which waited and begins only now.
  mutating func absorb() {
    guard var run = running, let plan = planned else { return }
    run.triggers += plan.run.triggers.filter { !run.triggers.contains($0) }
    run.first = plan.run.first + run.first.filter { !plan.run.first.contains($0) }
    (running, planned) = (run, nil)
  }

  /// Records how the running sync ended.
  ///
  /// - Returns: The decision on the retry, if the sync failed.
  @discardableResult
  mutating func finished(_ ending: Ending, at now: Moment, random: UInt64) -> SyncDecision? {
    let run = running
    running = nil
    switch ending {
    case .synced(let retryAfter):
      record.lastSuccess = now.timestamp
      record.failures = 0
      setBackoff(nil, at: now)
      setPause(retryAfter, at: now)
    case .failed(let retryAfter):
      record.failures = max(record.failures, 0).addingOne
      setBackoff(pacing.wait(afterFailures: record.failures, random: random), at: now)
      setPause(retryAfter, at: now)
      return decide(.retry, first: [], at: now)
    case .offline where !isOffline:
      // Without a known loss, no news will announce the network's return.
      return finished(.failed(retryAfter: nil), at: now, random: random)
    case .offline:
      for trigger in run?.triggers ?? [] { add(trigger, first: run?.first ?? [], .offline) }
      interrupted(run, at: now)
    case .expired:
      interrupted(run, at: now)
    case .stopped:
      break
    }
    return nil
  }

  /// Records that a sync was cut short, so that its attempt does not count.
  ///
  /// Work that only used background time goes on in the next such time. A requested sync is owed an
  /// attempt, and so is the first sync.
  private mutating func interrupted(_ run: Run?, at now: Moment) {
    let isForTheTimeAlone = run?.triggers.allSatisfy(\.isTimeInTheBackground) ?? true
    let isAwaited = undecided.contains { $0.reason == .running }
    if !isForTheTimeAlone || record.lastSuccess == nil || isAwaited { record.interruptedAt = now.timestamp }
    _ = decide(.running, at: now)
  }

  /// Whether a sync is running or planned.
  var isSyncAhead: Bool { running != nil || planned != nil }

  /// Returns the next planned sync, as known now.
  func next(after now: Moment) -> NextSync? {
    guard let plan = planned else { return nil }
    let due = due(of: plan)
    return NextSync(
      at: now.timestamp(at: due.time), triggers: plan.run.triggers,
      waitsFor: due.time > now.elapsed ? due.wait : nil)
  }

  /// The time when a plan may start, and the condition that delays it most.
  private func due(of plan: Plan) -> (time: Duration, wait: NextSync.Wait) {
    var due = (time: plan.earliest, wait: NextSync.Wait.gathering)
    func notBefore(_ time: Duration?, _ wait: NextSync.Wait) {
      if let time, time > due.time { due = (time, wait) }
    }
    if starts.count == max(pacing.runs, 1), let oldest = starts.first {
      notBefore(oldest + pacing.window, .rateLimit)
    }
    if !plan.run.triggers.contains(where: \.overtakesBackoff) {
      notBefore(backoffEnd, .failures(record.failures))
    }
    notBefore(pauseEnd, .remotePause)
    return due
  }

  private mutating func setBackoff(_ wait: Duration?, at now: Moment) {
    backoffEnd = wait.map { now.elapsed + $0 }
    if wait != nil { record.pausedAt = now.timestamp }
    record.retryAt = wait.map { now.timestamp + $0 }
  }

  private mutating func setPause(_ wait: Duration?, at now: Moment) {
    let wait = wait.map { min($0, pacing.longestPause) }
    pauseEnd = wait.map { now.elapsed + $0 }
    if wait != nil { record.pausedAt = now.timestamp }
    record.pausedUntil = wait.map { now.timestamp + $0 }
  }
}

/// A moment by two clocks: one that measures waits, and one that gives timestamps.
struct Moment: Hashable, Sendable {
  /// The time since the coordinator was created. It never runs backwards.
  var elapsed: Duration
  var timestamp: Timestamp

  /// Returns the timestamp that belongs to another elapsed time.
  func timestamp(at elapsed: Duration) -> Timestamp { timestamp + (elapsed - self.elapsed) }
}
