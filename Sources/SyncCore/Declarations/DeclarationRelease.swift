import SyncModels
import SyncPorts

/// Releases the copies that changed declarations no longer withhold, before the pulls.
///
/// It is the first phase, and refuses a sync by declarations that others have replaced.
/// ``DeclarationWithholding`` follows after the pulls. The order matters because a type that is
/// declared together with a reference to it has no records before its first pull.
struct DeclarationRelease: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      if try !snapshot.isDecided(by: session.schema) { return true }
      return try StoredDeclarations.load(from: snapshot).types.contains { $0.isDeclared && $0.release != nil }
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let schema = session.schema
    let stored = try await session.read { (snapshot) throws(SyncError) in
      try snapshot.demandDecision(by: schema)
      return try StoredDeclarations.load(from: snapshot)
    }
    for entity in schema.entities {
      guard let walk = stored.known(entity.type)?.release else { continue }
      if try await session.releaseParked(of: entity, saving: walk) == .stopped {
        return .stopped
      }
    }
    return .finished
  }
}

extension StoredDeclarations.Walk {
  fileprivate init(_ key: WithheldChange.Key?) {
    if case .record(let id)? = key { after = id.key }
  }
}

extension SyncSession {
  /// Merges the parked copies of a type again.
  ///
  /// Each of them is shown, or parked for the records that it needs now.
  ///
  /// - Parameter walk: Where to begin, if the store keeps where the next sync continues after a stop.
  mutating func releaseParked(
    of entity: Entity, saving walk: StoredDeclarations.Walk? = nil
  ) async throws(SyncError) -> PhaseEnd {
    let start = walk?.after.map { WithheldChange.Key.record(RecordID(type: entity.type, key: $0)) }
    return try await replay(entity, .parked, after: start) {
      (merge, entries, start, transaction) throws(SyncError) in
      if !entries.isEmpty { try merge.release(entries, in: transaction) }
      guard walk != nil else { return }
      let next = (entries.last?.key).map(StoredDeclarations.Walk.init)
      try StoredDeclarations.update(in: transaction) {
        $0.setRelease(from: StoredDeclarations.Walk(start), to: next, of: entity.type)
      }
    }
  }
}
