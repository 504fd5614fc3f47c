import SyncModels
import SyncPorts

/// A store that is handed from one remote to another: what the first one said of a record is no base for the other.
///
/// Noted at the start of the first sync with the other remote, before anything is sent or asked for. From then on versions are of a new epoch, by which the
/// copies that the other remote has said something of are told from those that are left of the first.
struct SourceExchange {
  /// Notes which types were in step with another remote before.
  static func note(
    _ entities: [Entity], isPushed: Bool, in environment: RunEnvironment, lease: Lease
  ) async throws(SyncError) {
    let due = try await environment.store.read { (snapshot) throws(SyncError) in
      let store = try snapshot.storeIdentity()
      var due: [(type: RecordType, checkpoint: Checkpoint)] = []
      for entity in entities {
        let scope = environment.scope(of: entity, store: store)
        if var checkpoint = try snapshot.checkpoint(for: entity.type) {
          guard checkpoint.scope.source != scope.source else { continue }
          checkpoint.enter(scope)
          due.append((entity.type, checkpoint))
        } else if isPushed, try snapshot.outboxCount(entity.type) > 0 {
          // What is pushed first and never pulled belongs to a remote as well.
          due.append((entity.type, Checkpoint(scope: scope)))
        }
      }
      return due
    }
    #if MUTANTS
      if Mutant.scopeIgnored.isActive { return }
    #endif
    if due.isEmpty { return }
    try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      for (type, checkpoint) in due {
        try transaction.setCheckpoint(checkpoint, for: type)
        if checkpoint.epoch > 0 { try transaction.encode(checkpoint.epoch, forKey: key(type)) }
      }
    }
  }

  /// Notes which remote a type belongs to that has edits to push and was never pulled: an edit may be made after the sync began.
  static func noteFirst(
    _ entity: Entity, in environment: RunEnvironment, _ transaction: any StoreTransaction
  ) throws(SyncError) {
    guard try transaction.checkpoint(for: entity.type) == nil, try transaction.outboxCount(entity.type) > 0
    else { return }
    let scope = environment.scope(of: entity, store: try transaction.storeIdentity())
    try transaction.setCheckpoint(Checkpoint(scope: scope), for: entity.type)
  }

  /// Takes those bases away from edits that are of another remote's copies; deletions of those are given up.
  ///
  /// What was sent to the other remote, and what that said to it, is forgotten with them.
  ///
  /// - Returns: Whether any was.
  static func forgetBases(
    of entries: [OutboxEntry], _ entity: Entity, in transaction: any StoreTransaction
  ) throws(SyncError) -> Bool {
    guard !entries.isEmpty, let epoch = try transaction.decoded(Int64.self, forKey: key(entity.type)) else {
      return false
    }
    let foreign = entries.filter { entry in
      entry.base.version.map { $0 != .unversioned && $0.epoch < epoch } ?? false
    }
    guard !foreign.isEmpty else { return false }
    var (queue, moot): ([OutboxEntry], [OutboxEntry]) = ([], [])
    var rows: [Record] = []
    for var entry in foreign {
      (entry.base, entry.sent, entry.state, entry.attempts) = (.none, nil, .waiting, 0)
      if case .live(let record) = entry.row(of: entity) { rows.append(record) }
      if entry.isMoot { moot.append(entry) } else { queue.append(entry) }
    }
    if !rows.isEmpty { try transaction.put(rows) }
    if !queue.isEmpty { try transaction.queue(queue) }
    try transaction.giveUp(moot)
    // That a listing lacked them is no news of records that are deleted.
    let notes = try transaction.withheld(for: moot.map { .record($0.id) }).filter { $0.kind == .missing }
    if !notes.isEmpty { try transaction.release(notes.map(\.key)) }
    return true
  }

  private static func key(_ type: RecordType) -> String { "source-epoch/\(type)" }
}

extension Checkpoint {
  /// Makes tokens void that are of another scope. Another remote's versions are of another order, too; a changed query or schema leaves the order as it was.
  mutating func enter(_ scope: Scope) {
    guard self.scope != scope else { return }
    if self.scope.source != scope.source { epoch += 1 }
    self.scope = scope
    committed = nil
    inFlight = nil
  }
}
