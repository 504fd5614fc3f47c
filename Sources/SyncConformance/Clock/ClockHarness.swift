public import SyncPorts

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
