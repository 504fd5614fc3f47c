public import SyncPorts

/// One promise of `Clock`, as a check for any clock.
///
/// A promise that is kept takes less than a second of the clock's time.
public enum ClockCheck: String, CaseIterable, Sendable {
  /// A promise of a clock.
  case nowNeverGoesBack, sleepLastsUntilItsDeadline, pastDeadlineIsNotWaitedFor, cancellationEndsASleep,
    cancelledTaskDoesNotSleep, sleepsAreIndependent, timestampMovesOn

  /// Runs the check.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise.
  public func run(on harness: ClockHarness) async throws -> ConformanceOutcome {
    try await ConformanceOutcome { try await check(harness.clock, harness) }
  }

  private func check<C: Clock<Duration>>(_ clock: C, _ harness: ClockHarness) async throws {
    let bench = ClockBench(clock: clock, harness: harness)
    defer { bench.cancelSleeps() }
    switch self {
    case .nowNeverGoesBack: try ClockChecks.nowNeverGoesBack(bench)
    case .sleepLastsUntilItsDeadline: try await ClockChecks.sleepLastsUntilItsDeadline(bench)
    case .pastDeadlineIsNotWaitedFor: try await ClockChecks.pastDeadlineIsNotWaitedFor(bench)
    case .cancellationEndsASleep: try await ClockChecks.cancellationEndsASleep(bench)
    case .cancelledTaskDoesNotSleep: try await ClockChecks.cancelledTaskDoesNotSleep(bench)
    case .sleepsAreIndependent: try await ClockChecks.sleepsAreIndependent(bench)
    case .timestampMovesOn: try await ClockChecks.timestampMovesOn(bench)
    }
  }
}

/// Access of the checks to a clock.
///
/// ```swift
/// @Test(arguments: ClockCheck.allCases)
/// func conforms(_ check: ClockCheck) async throws {
///   #expect(try await check.run(on: ClockHarness(clock: MyClock())) == .kept)
/// }
/// ```
public struct ClockHarness: Sendable {
  /// The clock to check.
  public var clock: any Clock<Duration>
  /// Advances the clock; `nil` if it runs by itself.
  public var advance: (@Sendable (Duration) -> Void)?
  /// Where the sleeping tasks run; `nil` for the global executor.
  public var executor: (any TaskExecutor)?

  /// Creates access to a clock.
  public init(clock: any Clock<Duration>, advance: (@Sendable (Duration) -> Void)? = nil) {
    self.clock = clock
    self.advance = advance
  }
}
