import SyncModels

/// One part of a sync.
///
/// A phase runs to its end, or to a stop between two of its transactions.
/// What a phase leaves undone is due again at the next sync, so it may end anywhere.
protocol SyncPhase: Sendable {
  /// Runs the phase under the session's lease.
  ///
  /// - Throws: What ends the whole sync. The phase has put the types that failed into
  ///   ``SyncSession/failing``, and committed transactions stay.
  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd
}

/// How a phase ended.
enum PhaseEnd: Sendable {
  /// Everything that was due is done.
  case finished
  /// A stop was requested.
  case stopped
}
