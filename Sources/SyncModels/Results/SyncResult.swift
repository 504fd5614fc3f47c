/// The result of one sync.
public struct SyncResult: Sendable {
  /// The counts of each type that the sync reached, in sync order.
  public var entities: [(type: RecordType, counts: SyncCounts)]
  /// The numbers of the push.
  public var pushed: PushCounts
  /// Types whose own pass failed while the others continued. Their earlier commits stay.
  public var failures: [(type: RecordType, error: SyncError)]
  /// Sweeps that were refused, with the reason.
  public var refusedSweeps: [(type: RecordType, refusal: SweepRefusal)]
  /// The duration of the sync, by the injected clock.
  public var duration: Duration
  /// Whether the sync stopped on request. Its commits stay, and the next sync resumes there.
  public var wasCancelled: Bool

  /// Creates the result of a sync.
  public init(
    entities: [(type: RecordType, counts: SyncCounts)] = [], pushed: PushCounts = PushCounts(),
    failures: [(type: RecordType, error: SyncError)] = [],
    refusedSweeps: [(type: RecordType, refusal: SweepRefusal)] = [], duration: Duration = .zero,
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

  /// Whether there was nothing to do: no change, no failure, no cancellation.
  public var isEmpty: Bool {
    !wasCancelled && failures.isEmpty && total.isEmpty && pushed.requests == 0
  }

  /// The counts of one type; all zero if the sync did not reach it.
  public subscript(type: RecordType) -> SyncCounts {
    entities.first { $0.type == type }?.counts ?? SyncCounts()
  }
}
