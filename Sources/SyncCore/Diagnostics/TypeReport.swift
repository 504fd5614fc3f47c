public import SyncModels
public import SyncPorts

/// How one type stands: its syncs, its token, and what is set aside.
public struct TypeReport: Sendable {
  /// The type.
  public var type: RecordType
  /// How its syncs have gone.
  public var status: TypeStatus
  /// How many records are live.
  public var live: Int
  /// How long ago the last pass was completed; `nil` before the first.
  public var tokenAge: Duration?
  /// The pass under way or interrupted.
  public var inFlight: Checkpoint.Pass?
  /// A sweep that is due, and why it waits.
  public var sweep: Checkpoint.Sweep?
  /// How many entries of each kind are set aside.
  public var setAside: [SetAside.Kind: Int]
  /// How many local edits are in the outbox, refused ones included.
  public var pending: Int
  /// How many of them the remote refused for good.
  public var refused: Int
  /// When the remote may be asked again, where it named a time.
  public var nextRetry: Timestamp? { status.lastError?.retryAt }

  /// Reads how some types stand, from one snapshot.
  ///
  /// - Complexity: O(*p*) in the pending edits, beside what the store's counts cost.
  public static func load(
    _ entities: [Entity], from store: any LocalStore, at now: Timestamp
  ) async throws(SyncError) -> [TypeReport] {
    try await store.read { (snapshot) throws(SyncError) in
      var reports: [TypeReport] = []
      for entity in entities {
        let checkpoint = try snapshot.checkpoint(for: entity.type)
        reports.append(
          TypeReport(
            type: entity.type, status: try TypeStatus.load(for: entity.type, from: snapshot),
            live: try snapshot.count(Query(entity.type)),
            tokenAge: checkpoint?.committedAt.map { now.duration(since: $0) },
            inFlight: checkpoint?.inFlight, sweep: checkpoint?.sweep,
            setAside: try snapshot.setAsideCounts(entity.type),
            pending: try snapshot.outboxCount(entity.type),
            refused: try refusedCount(entity.type, in: snapshot)))
      }
      return reports
    }
  }

  private static func refusedCount(
    _ type: RecordType, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Int {
    guard try snapshot.outboxCount(type) > 0 else { return 0 }
    var (refused, last) = (0, EditStamp?.none)
    while true {
      let entries = try snapshot.outbox(type, after: last, limit: MergeContext.portion)
      guard let end = entries.last else { return refused }
      last = end.edit.stamp
      for case .refused in entries.map(\.state) { refused += 1 }
    }
  }
}
