/// What one sync did.
public struct SyncResult: Sendable {
  /// The counts of each type that was reached, in the order in which types are synced.
  public var entities: [(type: RecordType, counts: SyncCounts)]
  /// What became of the local edits.
  public var pushed: PushCounts
  /// Types whose own pass failed while the others went on; what they had committed stays.
  public var failures: [(type: RecordType, error: SyncError)]
  /// Sweeps that were not carried out, and why.
  public var refusedSweeps: [(type: RecordType, refusal: Checkpoint.Refusal)]
  /// How long the sync took, by the injected clock.
  public var duration: Duration
  /// Whether the sync stopped because it was asked to; what it had committed stays, and the next one goes on from there.
  public var wasCancelled: Bool

  /// Describes what a sync did.
  public init(
    entities: [(type: RecordType, counts: SyncCounts)] = [], pushed: PushCounts = PushCounts(),
    failures: [(type: RecordType, error: SyncError)] = [],
    refusedSweeps: [(type: RecordType, refusal: Checkpoint.Refusal)] = [], duration: Duration = .zero,
    wasCancelled: Bool = false
  ) {
    self.entities = entities
    self.pushed = pushed
    self.failures = failures
    self.refusedSweeps = refusedSweeps
    self.duration = duration
    self.wasCancelled = wasCancelled
  }

  /// The counts of all types together.
  public var total: SyncCounts {
    entities.reduce(into: SyncCounts()) { $0 += $1.counts }
  }

  /// Whether nothing changed, nothing failed and nobody cancelled: there was nothing to do.
  public var isEmpty: Bool {
    !wasCancelled && failures.isEmpty && total.isEmpty && pushed.requests == 0
  }

  /// The counts of one type; all zero if the sync did not reach it.
  public subscript(type: RecordType) -> SyncCounts {
    entities.first { $0.type == type }?.counts ?? SyncCounts()
  }
}
