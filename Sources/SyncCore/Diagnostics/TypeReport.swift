import SyncJSON
public import SyncModels
public import SyncPorts

/// The state of one type: its syncs, its token, and its withheld changes.
public struct TypeReport: Sendable {
  /// The record type.
  public var type: RecordType
  /// The status of the type's syncs.
  public var status: TypeStatus
  /// The number of live records.
  public var live: Int
  /// The time since the last pass was completed; `nil` before the first.
  public var tokenAge: Duration?
  /// The age of the type's data; `nil` before the first sync.
  ///
  /// It is the time since the store last had everything that the remote had. Zero if the clock has
  /// been set back since.
  public var dataAge: Duration?
  /// The pass that is under way or was interrupted.
  public var inFlight: Checkpoint.Pass?
  /// A sweep that is due, and why it waits.
  public var sweep: Checkpoint.Sweep?
  /// The number of withheld changes of each kind.
  public var withheld: [WithheldChange.Kind: Int]
  /// How the last of several edits of a record is determined.
  public var lastWrite: LastWrite
  /// The number of local edits in the outbox, including refused ones.
  public var pending: Int
  /// The number of those edits, by what they wait for.
  public var waiting: [PendingEdit.Kind: Int]
  /// The number of those edits that the remote refused for good.
  public var refused: Int { waiting[.change] ?? 0 }
  /// When the next request may be made, if the remote named a time.
  public var nextRetry: Timestamp? { status.lastError?.retryAt }

  /// How the last of several edits of a record is determined.
  public enum LastWrite: Hashable, Sendable {
    /// By the stamps of the edits, which travel in this member: the edit made last wins.
    case edit(FieldName)
    /// By the remote's modification time: the edit that arrived there last wins.
    case arrival

    fileprivate init(_ entity: Entity) {
      switch entity.stamping {
      case .automatic: self = entity.remote.keepsUnknownMembers ? .edit(.editStamp) : .arrival
      case .field(let field): self = .edit(field)
      case .none: self = .arrival
      }
    }
  }

  /// Reads the reports of some types, from one snapshot.
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
    var portions = snapshot.portions(outbox: entity.type)
    while let entries = try portions.next() {
      for edit in try PendingEdit.read(entries, of: entity, in: snapshot) {
        waits[edit.kind, default: 0] += 1
      }
    }
    return waits
  }
}

extension TypeStatus {
  /// Loads the status of a type; empty if the type was never synced.
  static func load(for type: RecordType, from snapshot: any StoreSnapshot) throws(SyncError) -> TypeStatus {
    // A status of an unknown format is ignored: it only describes past syncs.
    try snapshot.value(ifReadableOf: key(for: type)) ?? TypeStatus()
  }

  /// Saves the status within a transaction.
  func save(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(self, for: Self.key(for: type))
  }

  private static func key(for type: RecordType) -> ValueKey<TypeStatus> { ValueKey("status/\(type)") }
}

extension TypeReport {
  /// The report as numbers under stable names, for a metrics system to collect.
  ///
  /// For a type `games` the names are `type.games.successes`, `type.games.failures`,
  /// `type.games.consecutiveFailures`, `type.games.live`, `type.games.pending`,
  /// `type.games.refused`, `type.games.withheld.<kind>` for each kind that occurs, and, once they
  /// are known, `type.games.successRate` (0 to 1) and `type.games.age.seconds`.
  public var metrics: [String: Double] {
    var metrics: [String: Double] = [
      "successes": Double(status.successes), "failures": Double(status.failures),
      "consecutiveFailures": Double(status.consecutiveFailures), "live": Double(live),
      "pending": Double(pending), "refused": Double(refused),
    ]
    metrics["successRate"] = status.successRate
    metrics["age.seconds"] = dataAge?.inSeconds
    for (kind, count) in withheld { metrics["withheld.\(kind.rawValue)"] = Double(count) }
    return Dictionary(uniqueKeysWithValues: metrics.map { ("type.\(type).\($0.key)", $0.value) })
  }
}
