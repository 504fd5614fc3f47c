import SyncModels
import SyncPorts

/// Releases the copies that changed declarations no longer withhold, before the pulls.
///
/// ``DeclarationWithholding`` follows after the pulls. The order matters because a type that is
/// declared together with a reference to it has no records before its first pull.
struct DeclarationRelease: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      let stored = try StoredDeclarations.load(from: snapshot)
      return !(stored?.isInLine(with: session.schema, at: session.environment.clock.timestamp) ?? false)
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let (schema, now) = (session.schema, session.environment.clock.timestamp)
    if try await session.declarations()?.isInLine(with: schema, at: now) ?? false { return .finished }
    try await session.updateDeclarations { $0.begin(schema, at: now) }
    for entity in schema.entities {
      guard let stored = try await session.declarations(), let change = stored.change(to: entity, at: now)
      else { continue }
      let progress = stored.progress(of: entity)
      if !progress.isReleased {
        if change.releases,
          try await session.releaseParked(of: entity, after: progress.after, notesProgress: true) == .stopped
        {
          return .stopped
        }
        try await Self.finish(entity, change, in: session)
      }
      if !change.withholds { try await session.updateDeclarations { $0.finish(entity) } }
    }
    return .finished
  }

  private static func finish(
    _ entity: Entity, _ change: DeclarationChange, in session: SyncSession
  ) async throws(SyncError) {
    try await session.write { (transaction) throws(SyncError) in
      // A rebuild by another natural key does not count: the app's next one does it anew.
      if change.voidsRebuild { try RebuildProgress.forget(for: entity.type, in: transaction) }
      try StoredDeclarations.update(in: transaction) { stored in
        if change.releases { stored.noteReleased(entity) }
        stored.note(
          StoredDeclarations.Progress(shape: DeclaredShape(entity), isReleased: true), of: entity)
      }
    }
  }
}

extension SyncSession {
  /// Merges the parked copies of a type again.
  ///
  /// Each of them is shown, or parked for the records that it needs now.
  ///
  /// - Parameters:
  ///   - key: The key after which the first copy is taken.
  ///   - notesProgress: Whether the store keeps where the next sync continues after a stop.
  mutating func releaseParked(
    of entity: Entity, after key: String?, notesProgress: Bool
  ) async throws(SyncError) -> PhaseEnd {
    let start = key.map { WithheldChange.Key.record(RecordID(type: entity.type, key: $0)) }
    return try await replay(entity, .parked, after: start) {
      (merge, entries, transaction) throws(SyncError) in
      if !entries.isEmpty { try merge.release(entries, in: transaction) }
      guard case .record(let id)? = entries.last?.key, notesProgress else { return }
      try StoredDeclarations.update(in: transaction) { stored in
        stored.note(StoredDeclarations.Progress(shape: DeclaredShape(entity), after: id.key), of: entity)
      }
    }
  }

  /// Reads the declarations that the stored records follow.
  func declarations() async throws(SyncError) -> StoredDeclarations? {
    try await read { (snapshot) throws(SyncError) in try StoredDeclarations.load(from: snapshot) }
  }

  /// Changes the declarations that the stored records follow.
  func updateDeclarations(
    _ change: @escaping @Sendable (inout StoredDeclarations) -> Void
  ) async throws(SyncError) {
    try await write { (transaction) throws(SyncError) in
      try StoredDeclarations.update(in: transaction, change)
    }
  }
}
