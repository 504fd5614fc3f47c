import SyncModels
import SyncPorts

/// Decides when to sync, and never syncs: whatever asks comes together here.
///
/// However many triggers come while a sync runs, one more follows it. No trigger gets past the rate limit or a pause that the remote asked for;
/// the pause after failures gives way to those that have reason to hope.
struct TriggerMachine {
  /// A sync about to be started.
  struct Run: Hashable, Sendable {
    /// What asked for it, the first one first.
    var triggers: [SyncTrigger]
    /// The types that were asked for first.
    var first: [RecordType]

    /// Whether clean-up follows, unless the sync was stopped.
    var cleansUp: Bool { triggers.contains(.background(.processing)) }
  }

  /// What is to be done now.
  enum Step: Hashable {
    case run(Run)
    case wait(until: Duration)
    case idle
  }

  /// How a sync ended.
  enum Ending: Hashable {
    /// Complete, but for types whose own failure asked for a pause.
    case synced(retryAfter: Duration?)
    /// Stopped by wish.
    case stopped
    /// Stopped because the time in the background was up.
    case expired
    /// There was no network: no attempt worth counting while that is known, otherwise a failure like any other.
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
  /// What was passed over because of the sync under way.
  private var waived = OwedSyncs()
  /// When the last syncs were started, as many as the rate limit looks at.
  private var starts: [Duration] = []
  private var backoffEnd: Duration?
  private var pauseEnd: Duration?

  /// A machine that remembers nothing.
  init(pacing: SyncPacing = SyncPacing(), staleAge: Duration = .seconds(300)) {
    self.pacing = pacing
    self.staleAge = staleAge
  }

  /// Goes on from what an earlier process left: an attempt that was to follow a failure still does.
  mutating func restore(_ record: PacingState, at now: Moment) {
    self.record = record
    // No clock that was set meanwhile can make a pause longer than it was when it was noted, nor than it may be.
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

  /// The app began or completed a sync of everything by itself: it counts as an attempt, and as a success.
  mutating func heard(begin: Timestamp?, success: Timestamp?) {
    if let begin { record.lastAttempt = begin }
    guard let success else { return }
    record.lastSuccess = success
    record.failures = 0
    record.expiredAt = nil
    (backoffEnd, record.retryAt) = (nil, nil)
    withdraw(.retry)
  }

  /// Something asks for a sync.
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

  /// The network is known to be away, or no longer. What was planned is dropped and owed: when the network is back, that is a trigger.
  mutating func network(isOffline: Bool) {
    self.isOffline = isOffline
    guard isOffline, let plan = planned else { return }
    owed.add(plan.run)
    planned = nil
  }

  /// Takes what was promised a sync once the network is back, to be reported anew; nothing as long as the network is known to be away.
  mutating func redeem() -> [OwedSyncs.Request] {
    isOffline ? [] : owed.take()
  }

  /// Whoever asked takes it back, and nobody else asked.
  mutating func withdraw(_ trigger: SyncTrigger) {
    planned?.run.triggers.removeAll { $0 == trigger }
    if planned?.run.triggers.isEmpty == true { planned = nil }
  }

  /// What to do now; a run that is handed out has begun.
  mutating func step(at now: Moment) -> Step {
    guard running == nil, let plan = planned else { return .idle }
    let due = due(of: plan).time
    guard due <= now.elapsed else { return .wait(until: due) }
    planned = nil
    running = plan.run
    record.lastAttempt = now.timestamp
    record.expiredAt = nil
    _ = waived.take()
    starts = starts.suffix(max(pacing.runs, 1) - 1) + [now.elapsed]
    return .run(plan.run)
  }

  /// The run had to wait, and begins only now: it serves what was planned meanwhile as well.
  mutating func absorb() {
    guard var run = running, let plan = planned else { return }
    run.triggers += plan.run.triggers.filter { !run.triggers.contains($0) }
    run.first = plan.run.first + run.first.filter { !plan.run.first.contains($0) }
    (running, planned) = (run, nil)
  }

  /// The run is over.
  ///
  /// - Returns: What becomes of the wish to try again, if it failed.
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
      // Nobody will tell when the network is back.
      return finished(.failed(retryAfter: nil), at: now, random: random)
    case .offline:
      if let run { owed.add(run) }
    case .expired:
      // What was given time goes on in the next; what was asked for is owed an attempt, and so is the first sync.
      let isForTheTimeAlone = run?.triggers.allSatisfy(\.isTimeInTheBackground) ?? true
      let waived = waived.take()
      if !isForTheTimeAlone || record.lastSuccess == nil || !waived.isEmpty {
        record.expiredAt = now.timestamp
      }
      for request in waived { _ = report(request.trigger, first: request.first, at: now) }
    case .stopped:
      break
    }
    return nil
  }

  /// The sync that comes next, as things stand.
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
    // An attempt that the system cut short is gone on with, however fresh.
    let gate = StalenessGate(lastAttempt: record.expiredAt == nil ? record.lastAttempt : nil)
    if let age = trigger.staleAge(byDefault: staleAge),
      let opening = gate.opens(olderThan: age, at: now.timestamp)
    {
      return .fresh(until: opening)
    }
    // Time in the background is not spent waiting for hours.
    if case .background = trigger, let pauseEnd, pauseEnd > now.elapsed {
      return .remotePause(until: now.timestamp(at: pauseEnd))
    }
    return nil
  }

  /// Whether the first sync is on its way, or the app has not been launched, which starts it.
  private var isAboutToSyncFirst: Bool {
    record.lastSuccess == nil && (record.lastAttempt == nil || running != nil || planned != nil)
  }

  private mutating func plan(_ trigger: SyncTrigger, first: [RecordType], from earliest: Duration) {
    var plan = planned ?? Plan(run: Run(triggers: [], first: []), earliest: earliest)
    if !plan.run.triggers.contains(trigger) { plan.run.triggers.append(trigger) }
    // The latest wish stands first.
    plan.run.first = first + plan.run.first.filter { !first.contains($0) }
    plan.earliest = min(plan.earliest, earliest)
    planned = plan
    _ = owed.take()
  }

  /// When a plan may be carried out, and what it waits for longest.
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
