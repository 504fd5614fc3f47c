import SyncPorts

/// One promise of `Clock`, as a check for any clock.
///
/// A check of a clock that runs by itself takes a fraction of a second of its time.
public enum ClockCheck: String, CaseIterable, Sendable {
  /// A promise of a clock.
  case nowNeverGoesBack, sleepLastsUntilItsDeadline, pastDeadlineIsNotWaitedFor, cancellationEndsASleep,
    cancelledTaskDoesNotSleep, sleepsAreIndependent, timestampMovesOn

  /// Runs the check.
  ///
  /// - Returns: Whether the promise was kept.
  /// - Throws: ``ConformanceFailure`` with the broken promise.
  public func run(on harness: ClockHarness) async throws -> ConformanceOutcome {
    let bench = ClockBench(advance: harness.advance)
    return try await ConformanceOutcome { try await check(harness.clock, bench) }
  }

  private func check<C: Clock<Duration>>(_ clock: C, _ bench: ClockBench) async throws {
    let checks = ClockChecks(clock: clock, bench: bench)
    switch self {
    case .nowNeverGoesBack: try await checks.nowNeverGoesBack()
    case .sleepLastsUntilItsDeadline: try await checks.sleepLastsUntilItsDeadline()
    case .pastDeadlineIsNotWaitedFor: try await checks.pastDeadlineIsNotWaitedFor()
    case .cancellationEndsASleep: try await checks.cancellationEndsASleep()
    case .cancelledTaskDoesNotSleep: try await checks.cancelledTaskDoesNotSleep()
    case .sleepsAreIndependent: try await checks.sleepsAreIndependent()
    case .timestampMovesOn: try await checks.timestampMovesOn()
    }
  }
}
