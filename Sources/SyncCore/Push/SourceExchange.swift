import SyncModels
import SyncPorts

/// Moves a store from one remote to another.
///
/// States of the first remote are no bases for edits that are sent to the other.
///
/// The change is noted at the start of the first sync with the other remote, before any request.
/// From then on versions have a new epoch, which distinguishes copies that the other remote has
/// reported from those of the first.
struct SourceExchange: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in try !Self.due(in: snapshot, for: session).isEmpty }
  }

  /// Notes the types that were in step with another remote before.
  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let due = try await session.read { [session] (snapshot) throws(SyncError) in
      try Self.due(in: snapshot, for: session)
    }
    if due.isEmpty { return .finished }
    try await session.write { (transaction) throws(SyncError) in
      for (type, checkpoint) in due {
        try Self.begin(checkpoint, of: type, in: transaction)
        // What the former remote has refused is new to this one.
        _ = try transaction.makeDue(type, where: \.isDecidedByTheRemote)
      }
    }
    return .finished
  }

  /// Finds the types that were in step with another remote, with their new checkpoints.
  private static func due(
    in snapshot: any StoreSnapshot, for session: SyncSession
  ) throws(SyncError) -> [(type: RecordType, checkpoint: Checkpoint)] {
    let environment = session.environment
    let isPushed = session.request.direction != .pull && environment.sink != nil
    let store = try snapshot.storeIdentity()
    var due: [(type: RecordType, checkpoint: Checkpoint)] = []
    for entity in session.entities {
      let scope = environment.scope(of: entity, store: store)
      if var checkpoint = try snapshot.checkpoint(for: entity.type) {
        guard checkpoint.scope.source != scope.source else { continue }
        checkpoint.enter(scope)
        due.append((entity.type, checkpoint))
      } else if isPushed, try snapshot.outboxCount(entity.type) > 0 {
        // A type that is pushed before its first pull belongs to a remote as well.
        due.append((entity.type, Checkpoint(scope: scope)))
      }
    }
    return due
  }

  /// Saves the remote of a type that has edits to push and was never pulled.
  ///
  /// Such an edit may be made after the sync began.
  static func persistFirst(
    _ entity: Entity, in environment: RunEnvironment, _ transaction: any StoreTransaction
  ) throws(SyncError) {
    guard try transaction.checkpoint(for: entity.type) == nil, try transaction.outboxCount(entity.type) > 0
    else { return }
    let scope = environment.scope(of: entity, store: try transaction.storeIdentity())
    try transaction.setCheckpoint(Checkpoint(scope: scope), for: entity.type)
  }

  /// Makes the bases that are another remote's copies those of edits of bundled records.
  ///
  /// The remote may have the same records, and must not make them again. Deletions of those copies
  /// are dropped. The edits that were sent to the other remote, and its answers, are forgotten too.
  ///
  /// - Returns: Whether there were any.
  static func forgetBases(
    of entries: [OutboxEntry], _ entity: Entity, in transaction: any StoreTransaction
  ) throws(SyncError) -> Bool {
    guard !entries.isEmpty, let epoch = try epoch(of: entity.type, in: transaction) else { return false }
    let foreign = entries.filter { !$0.isHeldByTheApp && $0.base.version?.isBefore(epoch) ?? false }
    guard !foreign.isEmpty else { return false }
    var (queue, moot): ([OutboxEntry], [OutboxEntry]) = ([], [])
    var rows: [Record] = []
    for var entry in foreign {
      (entry.base, entry.sent, entry.state, entry.attempts) = (entry.bundledBase, nil, .waiting, 0)
      if case .live(let record) = entry.row(of: entity) { rows.append(record) }
      if entry.isMoot { moot.append(entry) } else { queue.append(entry) }
    }
    if !rows.isEmpty { try transaction.put(rows) }
    if !queue.isEmpty { try transaction.queue(queue) }
    try transaction.giveUp(moot)
    // A note that a listing lacked them is meaningless for deleted records.
    try transaction.forgetAbsence(of: moot.map(\.id))
    return true
  }

  /// Returns those of some withheld changes that no other remote has sent.
  ///
  /// The rest says nothing about the records of the current remote.
  static func own(
    _ entries: [WithheldChange], of type: RecordType, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [WithheldChange] {
    guard !entries.isEmpty, let epoch = try epoch(of: type, in: snapshot) else { return entries }
    return entries.filter { !($0.version?.isBefore(epoch) ?? false) }
  }

  /// Notes that the epoch of a checkpoint is the first one of another remote, or of other credentials.
  static func begin(
    _ checkpoint: Checkpoint, of type: RecordType, in transaction: any StoreTransaction
  ) throws(SyncError) {
    try transaction.setCheckpoint(checkpoint, for: type)
    if checkpoint.epoch > 0 { try transaction.set(checkpoint.epoch, for: key(type)) }
  }

  /// Returns the first epoch of a type's current remote; `nil` for its first remote.
  static func epoch(of type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) -> Int64? {
    try snapshot.value(of: key(type))
  }

  private static func key(_ type: RecordType) -> ValueKey<Int64> { ValueKey(.sourceEpochs, type.rawValue) }
}

extension OutboxEntry {
  /// The base as a copy that no remote has reported; none for a deletion.
  fileprivate var bundledBase: Base {
    guard edit.content != .deletion, var copy = base.record else { return .none }
    (copy.version, copy.entityTag) = (.unversioned, nil)
    return .copy(copy)
  }
}

extension Version {
  /// Whether a remote before an epoch has given the version.
  func isBefore(_ epoch: Int64?) -> Bool {
    guard let epoch else { return false }
    return self != .unversioned && self.epoch < epoch
  }
}

extension WithheldChange {
  /// The version of the change; `nil` for malformed bytes.
  fileprivate var version: Version? {
    switch change {
    case .upsert(let record): record.version
    case .tombstone(let tombstone): tombstone.version
    case .malformed: nil
    }
  }
}

extension Checkpoint {
  /// Voids all tokens, and gives later versions an order of their own.
  mutating func beginEpoch() {
    epoch += 1
    (committed, inFlight) = (nil, nil)
  }

  /// Voids tokens of another scope.
  ///
  /// The versions of another remote or query have an order of their own. A changed schema version
  /// keeps the order.
  mutating func enter(_ scope: Scope) {
    guard self.scope != scope else { return }
    if self.scope.source != scope.source {
      epoch += 1
    } else if self.scope.query != scope.query {
      // The new one may give versions another meaning.
      epoch += 1
      hasNewQuery = hasNewQuery || sweptPass > 0
    }
    self.scope = scope
    committed = nil
    inFlight = nil
  }
}
