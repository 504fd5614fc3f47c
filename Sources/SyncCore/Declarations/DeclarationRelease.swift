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
      if try await session.releaseParked(of: entity, walk, savesProgress: true) == .stopped {
        return .stopped
      }
    }
    return .finished
  }
}

extension SyncSession {
  /// Merges the parked copies of a type again.
  ///
  /// Each of them is shown, or parked for the records that it needs now.
  ///
  /// - Parameter savesProgress: Whether the store keeps where the next sync continues after a stop.
  mutating func releaseParked(
    of entity: Entity, _ walk: StoredDeclarations.Walk = StoredDeclarations.Walk(), savesProgress: Bool
  ) async throws(SyncError) -> PhaseEnd {
    let start = walk.after.map { WithheldChange.Key.record(RecordID(type: entity.type, key: $0)) }
    return try await replay(entity, .parked, after: start) {
      (merge, entries, transaction) throws(SyncError) in
      if !entries.isEmpty { try merge.release(entries, in: transaction) }
      guard savesProgress else { return }
      var next: StoredDeclarations.Walk?
      if case .record(let id)? = entries.last?.key { next = StoredDeclarations.Walk(after: id.key) }
      try StoredDeclarations.update(in: transaction) { $0.setRelease(next, of: entity.type) }
    }
  }
}
