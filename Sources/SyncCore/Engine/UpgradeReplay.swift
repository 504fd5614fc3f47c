import SyncModels
import SyncPorts

/// Merges withheld records of a newer schema version, once the app supports it.
struct UpgradeReplay: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      for entity in session.entities where try Self.isDue(entity, in: snapshot, of: session) { return true }
      return false
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    for entity in session.entities {
      let isDue = try await session.read { [session] (snapshot) throws(SyncError) in
        try Self.isDue(entity, in: snapshot, of: session)
      }
      guard isDue else { continue }
      let end = try await session.replay(entity, .incompatible) {
        (merge, entries, _, transaction) throws(SyncError) in
        try merge.release(entries.filter { $0.isUnderstood(by: entity) }, in: transaction)
      }
      if end == .stopped { return .stopped }
    }
    return .finished
  }

  private static func isDue(
    _ entity: Entity, in snapshot: any StoreSnapshot, of session: SyncSession
  ) throws(SyncError) -> Bool {
    guard try snapshot.withheldCounts(entity.type)[.incompatible, default: 0] > 0 else { return false }
    if entity.visibility == .perPage { return true }
    // A type that is shown only whole is listed anew by the pass that a changed schema version
    // causes. No such pass follows if an older version of the app has withheld a record since, in
    // a store that both share.
    guard let checkpoint = try snapshot.checkpoint(for: entity.type), checkpoint.inFlight == nil else {
      return false
    }
    return checkpoint.scope == session.environment.scope(of: entity, store: try snapshot.storeIdentity())
  }
}

extension WithheldChange {
  fileprivate func isUnderstood(by entity: Entity) -> Bool {
    guard case .upsert(let record) = change else { return false }
    return record.schemaVersion <= entity.schemaVersion
  }
}
