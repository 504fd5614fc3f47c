import SyncPorts

/// One promise of `ConnectivityMonitor`, as a check that any adapter can run.
///
/// Run every case on a monitor of its own, and report each alone; see ``ConnectivityHarness``.
public enum ConnectivityCheck: String, CaseIterable, Sendable {
  case streamBeginsWithTheStatusNow, statusTellsWhatIsSo, changesComeInTheirOrder, sameStatusIsNoChange
  case eachStreamIsItsOwn, lossIsSeenByWhoeverIsSlow, endedStreamLeavesNothingBehind

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or could not be asked for.
  /// - Throws: ``ConformanceFailure`` with the promise that was broken, or the harness's own error.
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
    case .lossIsSeenByWhoeverIsSlow: ConnectivityChecks.lossIsSeenByWhoeverIsSlow
    case .endedStreamLeavesNothingBehind: ConnectivityChecks.endedStreamLeavesNothingBehind
    }
  }
}
