import SyncJSON
public import SyncModels
public import SyncPorts

/// The state of one type: its syncs, its token, and its withheld changes.
public struct TypeStatus: Sendable {
  /// The record type.
  public var type: RecordType
  /// How the type's passes ended so far.
  public var passes: PassOutcomes
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
  /// The age of the oldest edit in the outbox that the remote has not refused; `nil` without one.
  ///
  /// Zero if the clock has been set back since.
  public var outboxAge: Duration?
  /// When the next request may be made, if the remote named a time.
  public var nextRetry: Timestamp? { passes.lastError?.retryAt }

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

  /// Reads the status of some types, from one snapshot.
  ///
  /// - Complexity: O(*p*) in the pending edits, beside what the store's counts cost.
  public static func load(
    _ entities: [Entity], from store: any LocalStore, at now: Timestamp
  ) async throws(SyncError) -> [TypeStatus] {
    try await store.read { (snapshot) throws(SyncError) in try load(entities, in: snapshot, at: now) }
  }

  /// Reads the status of some types in a snapshot.
  package static func load(
    _ entities: [Entity], in snapshot: any StoreSnapshot, at now: Timestamp
  ) throws(SyncError) -> [TypeStatus] {
    var statuses: [TypeStatus] = []
    for entity in entities {
      let (waiting, oldest) = try waits(of: entity, in: snapshot)
      let checkpoint = try snapshot.checkpoint(for: entity.type)
      let passes = try PassOutcomes.load(for: entity.type, from: snapshot)
      statuses.append(
        TypeStatus(
          type: entity.type, passes: passes,
          live: try snapshot.count(Query(entity.type)),
          tokenAge: checkpoint?.committedAt.map { max(.zero, now.duration(since: $0)) },
          dataAge: passes.lastSuccess.map { max(now.duration(since: $0), .zero) },
          inFlight: checkpoint?.inFlight, sweep: checkpoint?.sweep,
          withheld: try snapshot.withheldCounts(entity.type), lastWrite: LastWrite(entity),
          pending: try snapshot.outboxCount(entity.type),
          waiting: waiting, outboxAge: oldest.map { max(now.duration(since: $0), .zero) }))
    }
    return statuses
  }

  private static func waits(
    of entity: Entity, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> (counts: [PendingEdit.Kind: Int], oldest: Timestamp?) {
    var waits: [PendingEdit.Kind: Int] = [:]
    var oldest: Timestamp?
    guard try snapshot.outboxCount(entity.type) > 0 else { return (waits, nil) }
    var portions = snapshot.portions(outbox: entity.type)
    while let entries = try portions.next() {
      for edit in try PendingEdit.read(entries, of: entity, in: snapshot) {
        waits[edit.kind, default: 0] += 1
        if edit.kind != .change, oldest == nil { oldest = edit.entry.edit.stamp.physical }
      }
    }
    return (waits, oldest)
  }
}

extension PassOutcomes {
  /// Loads the outcomes of a type's passes; empty if the type was never synced.
  static func load(for type: RecordType, from snapshot: any StoreSnapshot) throws(SyncError) -> PassOutcomes {
    // Outcomes of an unknown format is ignored: they only describe past syncs.
    try snapshot.value(ifReadableOf: key(for: type)) ?? PassOutcomes()
  }

  /// Saves the outcomes within a transaction.
  func save(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(self, for: Self.key(for: type))
  }

  private static func key(for type: RecordType) -> ValueKey<PassOutcomes> { ValueKey(.status, type.rawValue) }
}

extension TypeStatus {
  /// The status as numbers under stable names, for a metrics system to collect.
  ///
  /// Names begin with `canonicalsync_store_`, and all have the label `type`. `records` are the live
  /// ones, `withheld` has the label `kind`, and `outbox` has the label `waits_for`. The gauge
  /// `outbox_age_seconds` is ``outboxAge``, or zero. The counters
  /// `successes_total` and `failures_total` are of passes in the store's life. The gauge
  /// `consecutive_failures` is of those since the last success. `success_ratio` (0 to 1) and
  /// `age_seconds` of the data are there once they are known.
  public var metrics: [Metric] {
    func metric(
      _ name: String, _ kind: Metric.Kind, _ help: String, _ value: Double, _ label: Metric.Label? = nil
    ) -> Metric {
      Metric(
        "canonicalsync_store_\(name)", kind, help, labels: [.type(type)] + (label.map { [$0] } ?? []),
        value: value)
    }
    var metrics = [
      metric("records", .gauge, "Live records in the store.", Double(live)),
      metric("successes_total", .counter, "Passes completed in the store's life.", Double(passes.successes)),
      metric("failures_total", .counter, "Passes failed in the store's life.", Double(passes.failures)),
      metric(
        "consecutive_failures", .gauge, "Failed passes since the last success.",
        Double(passes.consecutiveFailures)),
    ]
    metrics += WithheldChange.Kind.allCases.map { kind in
      metric(
        "withheld", .gauge, "Changes that readers do not see, by the reason.",
        Double(withheld[kind] ?? 0), Metric.Label("kind", kind.rawValue))
    }
    metrics += PendingEdit.Kind.allCases.map { kind in
      metric(
        "outbox", .gauge, "Edits in the outbox, by what they wait for.", Double(waiting[kind] ?? 0),
        Metric.Label("waits_for", kind.rawValue.inSnakeCase))
    }
    metrics.append(
      metric(
        "outbox_age_seconds", .gauge, "The age of the oldest edit that waits to be pushed.",
        (outboxAge ?? .zero).inSeconds))
    if let ratio = passes.successRate {
      metrics.append(
        metric("success_ratio", .gauge, "The share of passes that completed, 0 to 1.", ratio))
    }
    if let age = dataAge {
      metrics.append(
        metric("age_seconds", .gauge, "The time since the store had all of the remote's data.", age.inSeconds)
      )
    }
    return metrics
  }
}
