public import SyncModels
public import SyncPorts

/// One promise of `BackgroundScheduler`, as a check for any adapter.
///
/// Run every case with its own scheduler, and report each separately; see ``SchedulerHarness``.
public enum SchedulerCheck: String, CaseIterable, Sendable {
  /// A promise of a scheduler.
  case requestBeginsNoEarlierThanItSays, requestIsTakenWhileItRuns, laterRequestReplacesTheOneOfItsKind,
    kindsAreKeptApart, timeOfDayIsTheNextOne, workSubmitsTheNextOfItsKind, oneKindRunsOnceAtATime,
    networkIsWaitedForWhereItIsNeeded, powerIsWaitedForWhereItIsNeeded, expirationCancelsAndIsWaitedFor,
    cancelledRunWaitsAndKeepsThePending

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or an unexpected error of the
  ///   scheduler.
  public func run(on harness: SchedulerHarness) async throws -> ConformanceOutcome {
    try await ConformanceOutcome { try await body(SchedulerBench(harness)) }
  }

  private var body: @Sendable (SchedulerBench) async throws -> Void {
    switch self {
    case .requestBeginsNoEarlierThanItSays: SchedulerChecks.requestBeginsNoEarlierThanItSays
    case .requestIsTakenWhileItRuns: SchedulerChecks.requestIsTakenWhileItRuns
    case .laterRequestReplacesTheOneOfItsKind: SchedulerChecks.laterRequestReplacesTheOneOfItsKind
    case .kindsAreKeptApart: SchedulerChecks.kindsAreKeptApart
    case .timeOfDayIsTheNextOne: SchedulerChecks.timeOfDayIsTheNextOne
    case .workSubmitsTheNextOfItsKind: SchedulerChecks.workSubmitsTheNextOfItsKind
    case .oneKindRunsOnceAtATime: SchedulerChecks.oneKindRunsOnceAtATime
    case .networkIsWaitedForWhereItIsNeeded: SchedulerChecks.networkIsWaitedForWhereItIsNeeded
    case .powerIsWaitedForWhereItIsNeeded: SchedulerChecks.powerIsWaitedForWhereItIsNeeded
    case .expirationCancelsAndIsWaitedFor: SchedulerChecks.expirationCancelsAndIsWaitedFor
    case .cancelledRunWaitsAndKeepsThePending: SchedulerChecks.cancelledRunWaitsAndKeepsThePending
    }
  }
}

/// Access of the checks to a background scheduler.
///
/// One harness has one scheduler without requests, and serves one check.
public struct SchedulerHarness: Sendable {
  /// The scheduler to check.
  public var scheduler: any BackgroundScheduler
  /// The time by the scheduler's own clock.
  public var now: @Sendable () -> Timestamp
  /// Advances the scheduler's own clock. It may return before the scheduler has noticed.
  public var pass: @Sendable (Duration) -> Void
  /// Ends the platform's time limit for the work; `nil` if that is impossible.
  public var expire: (@Sendable () -> Void)?
  /// Sets whether the scheduler's network is reachable; `nil` if that is impossible.
  public var setOnline: (@Sendable (Bool) -> Void)?
  /// Sets whether the machine has external power; `nil` if that is impossible.
  public var setPowered: (@Sendable (Bool) -> Void)?
  /// Where the scheduler's run begins; `nil` for the global executor.
  ///
  /// On one thread with the check, no time passes before every task has run.
  public var executor: (any TaskExecutor)?

  /// Creates access to a scheduler. Checks that need a `nil` function are skipped.
  public init(
    scheduler: any BackgroundScheduler, now: @escaping @Sendable () -> Timestamp,
    pass: @escaping @Sendable (Duration) -> Void, expire: (@Sendable () -> Void)? = nil,
    setOnline: (@Sendable (Bool) -> Void)? = nil, setPowered: (@Sendable (Bool) -> Void)? = nil
  ) {
    self.scheduler = scheduler
    self.now = now
    self.pass = pass
    self.expire = expire
    self.setOnline = setOnline
    self.setPowered = setPowered
  }
}
