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
  /// How old the type's data are: how long ago the store last had all that the remote had; `nil` before the first sync.
  ///
  /// Zero where the clock has been set back since.
  public var dataAge: Duration?
  /// The pass under way or interrupted.
  public var inFlight: Checkpoint.Pass?
  /// A sweep that is due, and why it waits.
  public var sweep: Checkpoint.Sweep?
  /// How many entries of each kind are set aside.
  public var withheld: [WithheldChange.Kind: Int]
  /// By what the last of several edits of a record is told.
  public var lastWrite: LastWrite
  /// How many local edits are in the outbox, refused ones included.
  public var pending: Int
  /// How many of them wait for what.
  public var waiting: [PendingEdit.Kind: Int]
  /// How many of them the remote refused for good.
  public var refused: Int { waiting[.change] ?? 0 }
  /// When the remote may be asked again, where it named a time.
  public var nextRetry: Timestamp? { status.lastError?.retryAt }

  /// By what the last of several edits of a record is told.
  public enum LastWrite: Hashable, Sendable {
    /// The stamps of the edits, which travel in this member: the edit that was made last wins.
    case edit(FieldName)
    /// The remote's modification time: the edit that arrived there last wins.
    case arrival

    fileprivate init(_ entity: Entity) {
      switch entity.stamping {
      case .automatic: self = entity.remote.keepsUnknownMembers ? .edit(.editStamp) : .arrival
      case .field(let field): self = .edit(field)
      case .none: self = .arrival
      }
    }
  }

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
        let status = try TypeStatus.load(for: entity.type, from: snapshot)
        reports.append(
          TypeReport(
            type: entity.type, status: status,
            live: try snapshot.count(Query(entity.type)),
            tokenAge: checkpoint?.committedAt.map { now.duration(since: $0) },
            dataAge: status.lastSuccess.map { max(now.duration(since: $0), .zero) },
            inFlight: checkpoint?.inFlight, sweep: checkpoint?.sweep,
            withheld: try snapshot.withheldCounts(entity.type), lastWrite: LastWrite(entity),
            pending: try snapshot.outboxCount(entity.type),
            waiting: try waits(of: entity, in: snapshot)))
      }
      return reports
    }
  }

  private static func waits(
    of entity: Entity, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [PendingEdit.Kind: Int] {
    var waits: [PendingEdit.Kind: Int] = [:]
    guard try snapshot.outboxCount(entity.type) > 0 else { return waits }
    var last: EditStamp?
    while true {
      let entries = try snapshot.portion(outbox: entity.type, after: last)
      guard let end = entries.last else { return waits }
      last = end.edit.stamp
      for edit in try PendingEdit.read(entries, of: entity, in: snapshot) {
        waits[edit.kind, default: 0] += 1
      }
    }
  }
}
