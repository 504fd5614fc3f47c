import SyncPorts

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
