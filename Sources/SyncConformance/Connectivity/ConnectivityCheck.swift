public import SyncPorts

/// One promise of `ConnectivityMonitor`, as a check for any adapter.
///
/// Run every case with its own monitor, and report each separately; see ``ConnectivityHarness``.
public enum ConnectivityCheck: String, CaseIterable, Sendable {
  /// A promise of a monitor.
  case streamBeginsWithTheStatusNow, statusTellsWhatIsSo, changesComeInTheirOrder, sameStatusIsNoChange,
    eachStreamIsItsOwn, lossIsSeenByASlowListener, endedStreamLeavesNothingBehind

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or the harness's own error.
  public func run(on harness: ConnectivityHarness) async throws -> ConformanceOutcome {
    try await ConformanceOutcome { try await body(ConnectivityBench(harness: harness)) }
  }

  private var body: @Sendable (ConnectivityBench) async throws -> Void {
    switch self {
    case .streamBeginsWithTheStatusNow: ConnectivityChecks.streamBeginsWithTheStatusNow
    case .statusTellsWhatIsSo: ConnectivityChecks.statusTellsWhatIsSo
    case .changesComeInTheirOrder: ConnectivityChecks.changesComeInTheirOrder
    case .sameStatusIsNoChange: ConnectivityChecks.sameStatusIsNoChange
    case .eachStreamIsItsOwn: ConnectivityChecks.eachStreamIsItsOwn
    case .lossIsSeenByASlowListener: ConnectivityChecks.lossIsSeenByASlowListener
    case .endedStreamLeavesNothingBehind: ConnectivityChecks.endedStreamLeavesNothingBehind
    }
  }
}

/// Access of the checks to a connectivity monitor.
///
/// One harness has one monitor, whose streams have no other readers, and serves one check.
///
/// ```swift
/// @Test(arguments: ConnectivityCheck.allCases)
/// func conforms(_ check: ConnectivityCheck) async throws {
///   let monitor = MyMonitor()
///   let harness = ConnectivityHarness(monitor: monitor, become: { monitor.simulate($0) })
///   #expect(try await check.run(on: harness) == .kept)
/// }
/// ```
public struct ConnectivityHarness: Sendable {
  /// The monitor to check.
  public var monitor: any ConnectivityMonitor
  /// Makes the network reachable (`online`) or unreachable (`offline`).
  ///
  /// It returns after the monitor has noticed. It is `nil` if the network cannot be changed.
  public var become: (@Sendable (Connectivity) async throws -> Void)?
  /// The number of streams in use; `nil` if it is unknown.
  public var followers: (@Sendable () -> Int)?

  /// Creates access to a monitor. Checks that need a `nil` function are skipped.
  public init(
    monitor: any ConnectivityMonitor, become: (@Sendable (Connectivity) async throws -> Void)? = nil,
    followers: (@Sendable () -> Int)? = nil
  ) {
    self.monitor = monitor
    self.become = become
    self.followers = followers
  }
}
