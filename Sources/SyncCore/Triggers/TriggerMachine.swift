import SyncModels
import SyncPorts

/// Decides when to sync, from all triggers; it performs no sync.
///
/// Any number of triggers during a sync leads to one more sync. Every sync obeys the rate limit and
/// a pause that the remote asked for. Triggers that give a reason to expect success override the
/// pause after failures.
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

  private struct Plan: Hashable {
    var run: Run
    var earliest: Duration
  }

  private let pacing: SyncPacing
  private let staleAge: Duration
  private(set) var record = PacingState()
  private(set) var running: Run?
  private var planned: Plan?
  private var isOffline = false
  private var owed = OwedSyncs()
  /// Triggers that were ignored because of the running sync.
  private var waived = OwedSyncs()
  /// The start times of the last syncs, as many as the rate limit counts.
  private var starts: [Duration] = []
  private var backoffEnd: Duration?
  private var pauseEnd: Duration?

  /// Creates a machine without history.
  init(pacing: SyncPacing = SyncPacing(), staleAge: Duration = .seconds(300)) {
    self.pacing = pacing
    self.staleAge = staleAge
  }

  /// Restores the state of an earlier process.
  ///
  /// An attempt that was to follow a failure still follows it.
  mutating func restore(_ record: PacingState, at now: Moment) {
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
    guard backoffEnd != nil else { return }
    isOffline ? owed.add(.retry, first: []) : plan(.retry, first: [], from: now.elapsed)
  }

  /// Records that the app itself began or completed a sync of all types.
  ///
  /// It counts as an attempt, and as a success.
  mutating func heard(begin: Timestamp?, success: Timestamp?) {
    if let begin { record.lastAttempt = begin }
    guard let success else { return }
    record.lastSuccess = success
    record.failures = 0
    record.interruptedAt = nil
    (backoffEnd, record.retryAt) = (nil, nil)
    withdraw(.retry)
  }

  /// Decides on a trigger.
  mutating func report(_ trigger: SyncTrigger, first: [RecordType] = [], at now: Moment) -> SyncDecision {
    if let reason = refusal(of: trigger, at: now) {
      switch reason {
      case .offline: owed.add(trigger, first: first)
      case .fresh, .firstSyncIncomplete: if running != nil { waived.add(trigger, first: first) }
      case .remotePause: break
      }
      return .ignored(reason)
    }
    let isJoining = planned != nil
    plan(trigger, first: first, from: now.elapsed + (trigger == .pushSignal ? pacing.gathering : .zero))
    guard running == nil, let next = next(after: now) else { return .follows }
    return isJoining ? .joined(next) : .planned(next)
  }

  /// Records whether the network is known to be away.
  ///
  /// When the network goes away, the planned sync is dropped and owed: the network's return is a
  /// trigger.
  mutating func network(isOffline: Bool) {
    self.isOffline = isOffline
    guard isOffline, let plan = planned else { return }
    owed.add(plan.run)
    planned = nil
  }

  /// Takes the triggers that are owed a sync, to be reported again.
  ///
  /// Empty while the network is known to be away.
  mutating func takeOwed() -> [OwedSyncs.Request] {
    isOffline ? [] : owed.take()
  }

  /// Withdraws a trigger, and drops the planned sync if it has no other trigger.
  mutating func withdraw(_ trigger: SyncTrigger) {
    planned?.run.triggers.removeAll { $0 == trigger }
    if planned?.run.triggers.isEmpty == true { planned = nil }
  }

  /// Returns the next step; a run that is returned has begun.
  mutating func step(at now: Moment) -> Step {
    guard running == nil, let plan = planned else { return .idle }
    let due = due(of: plan).time
    guard due <= now.elapsed else { return .wait(until: due) }
    planned = nil
    running = plan.run
    record.lastAttempt = now.timestamp
    record.interruptedAt = nil
    _ = waived.take()
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
      record.failures += 1
      setBackoff(pacing.wait(afterFailures: record.failures, random: random), at: now)
      setPause(retryAfter, at: now)
      return report(.retry, at: now)
    case .offline where !isOffline:
      // Without a known loss, no news will announce the network's return.
      return finished(.failed(retryAfter: nil), at: now, random: random)
    case .offline:
      if let run { owed.add(run) }
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
    let waived = waived.take()
    if !isForTheTimeAlone || record.lastSuccess == nil || !waived.isEmpty {
      record.interruptedAt = now.timestamp
    }
    for request in waived { _ = report(request.trigger, first: request.first, at: now) }
  }

  /// Returns the next planned sync, as known now.
  func next(after now: Moment) -> NextSync? {
    guard let plan = planned else { return nil }
    let due = due(of: plan)
    return NextSync(
      at: now.timestamp(at: due.time), triggers: plan.run.triggers,
      waitsFor: due.time > now.elapsed ? due.wait : nil)
  }

  private func refusal(of trigger: SyncTrigger, at now: Moment) -> SyncDecision.Reason? {
    if isOffline { return .offline }
    if trigger == .foreground, isAboutToSyncFirst { return .firstSyncIncomplete }
    // An attempt that was cut short goes on, however fresh.
    let gate = StalenessGate(lastAttempt: record.interruptedAt == nil ? record.lastAttempt : nil)
    if let age = trigger.staleAge(byDefault: staleAge),
      let opening = gate.opens(olderThan: age, at: now.timestamp)
    {
      return .fresh(until: opening)
    }
    // Background time is too short to wait for hours.
    if case .background = trigger, let pauseEnd, pauseEnd > now.elapsed {
      return .remotePause(until: now.timestamp(at: pauseEnd))
    }
    return nil
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
    _ = owed.take()
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
