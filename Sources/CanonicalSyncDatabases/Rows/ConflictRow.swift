package import SyncModels

extension TableRow where Column == ConflictColumn {
  /// Reads the conflict; its number is in the column behind those of the table.
  package func conflict() throws(SyncError) -> Conflict {
    let id = RecordID(type: RecordType(text(.type)), key: text(.id))
    guard let winner = Conflict.Winner(rawValue: text(.winner)) else {
      throw SyncError(
        .storeUnreadable, during: "reading the conflicts", "One has a winner that does not exist.")
    }
    let isDeleted = isNull(.remoteSchemaVersion)
    if isDeleted != isNull(.remotePayload) {
      row.noteDamage("a conflict's copy without its schema version, or the reverse")
    }
    let remote: RecordChange =
      isDeleted
      ? .tombstone(
        Tombstone(id: id, version: version(.remoteEpoch), entityTag: optionalText(.remoteEntityTag)))
      : .upsert(
        copy(
          of: id, version: .remoteEpoch, tag: .remoteEntityTag, schemaVersion: .remoteSchemaVersion,
          payload: .remotePayload))
    let local = content(payload: .localPayload, schemaVersion: .localSchemaVersion)
    return Conflict(
      number: integerBehind, id: id, settledAt: time(.settledAt),
      local: Edit(local, stamp: stamp(.localPhysical)), remote: remote, remoteStamp: stamp(.remotePhysical),
      base: isNull(.basePayload) ? nil : Payload(bytes(.basePayload)), winner: winner, reason: text(.reason))
  }
}

extension Conflict {
  /// What the columns of the remote state hold.
  ///
  /// - Throws: `invalidConfiguration` unless it is a copy or a tombstone.
  package func storedRemote() throws(SyncError) -> RecordChange.Stored {
    if case .malformed = remote {
      throw SyncError(
        .invalidConfiguration, during: "logging a conflict over \(id)",
        "The remote state must be a copy or a tombstone.")
    }
    return remote.stored
  }
}
