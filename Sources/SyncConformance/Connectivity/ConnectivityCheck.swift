import SyncPorts

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
