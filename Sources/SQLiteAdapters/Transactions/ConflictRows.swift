#if SQLite
  import SyncModels
  import SyncPorts

  /// The columns and statements of the conflict log.
  enum ConflictRows {
    static let names = [
      "type", "id", "settled_at", "winner", "reason", "local_physical", "local_counter", "local_replica",
      "local_schema_version", "remote", "remote_epoch", "remote_sequence", "remote_modified_at",
      "remote_entity_tag", "remote_schema_version", "remote_physical", "remote_counter", "remote_replica",
      "local_payload", "remote_payload", "base_payload",
    ]
    static let columns = names.joined(separator: ", ")
    static let add =
      "INSERT INTO conflicts (\(columns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))"
    static let all = "SELECT number, \(columns) FROM conflicts WHERE number < ? ORDER BY number DESC LIMIT ?"
    static let ofType = """
      SELECT number, \(columns) FROM conflicts WHERE number < ? AND type = ?3 ORDER BY number DESC LIMIT ?2
      """
    static let remove = "DELETE FROM conflicts WHERE settled_at < ?"
  }

  extension SQLiteSnapshot {
    func conflicts(_ type: RecordType?, before: Int64?, limit: Int) throws(SyncError) -> [Conflict] {
      guard limit > 0 else { return [] }
      let statement = try connection.statement(type == nil ? ConflictRows.all : ConflictRows.ofType)
      defer { statement.reset() }
      // SQLite never assigns its greatest row number while smaller ones are free.
      try statement.bind(before ?? .max, at: 1)
      try statement.bind(Int64(limit), at: 2)
      if let type { try statement.bind(type.rawValue, at: 3) }
      var conflicts: [Conflict] = []
      while try statement.step() { conflicts.append(try statement.conflict()) }
      return conflicts
    }
  }

  extension SQLiteTransaction {
    func insertConflicts(_ conflicts: [Conflict]) throws(SyncError) {
      let statement = try connection.statement(ConflictRows.add)
      defer { statement.clear() }
      for conflict in conflicts {
        let remote = try statement.bind(conflict)
        try statement.run(lendingOptional: conflict.local.content.payload, at: 19) { () throws(SyncError) in
          try statement.run(lendingOptional: remote?.payload, at: 20) { () throws(SyncError) in
            try statement.run(lendingOptional: conflict.base, at: 21) { () throws(SyncError) in
              try statement.run()
            }
          }
        }
      }
    }

    func deleteConflicts(settledBefore instant: Timestamp) throws(SyncError) {
      let statement = try connection.statement(ConflictRows.remove)
      try statement.bind(instant.microseconds, at: 1)
      try statement.run()
    }
  }

  extension Statement {
    /// Binds everything but payloads for ``ConflictRows/add``.
    ///
    /// Returns the remote's copy, if there is one.
    fileprivate func bind(_ conflict: Conflict) throws(SyncError) -> Record? {
      try bind(conflict.id, at: 1)
      try bind(conflict.settledAt.microseconds, at: 3)
      try bind(conflict.winner.rawValue, at: 4)
      try bind(conflict.reason, at: 5)
      try bind(conflict.local.stamp, at: 6)
      try bind(schemaVersionOf: conflict.local.content, at: 9)
      try bind(conflict.remoteStamp, at: 16)
      switch conflict.remote {
      case .upsert(let record):
        try bind("upsert", at: 10)
        try bind(record.version, tag: record.entityTag, at: 11)
        try bind(Int64(record.schemaVersion), at: 15)
        return record
      case .tombstone(let tombstone):
        try bind("tombstone", at: 10)
        try bind(tombstone.version, tag: tombstone.entityTag, at: 11)
        try bindNull(at: 15)
        return nil
      case .malformed:
        throw SyncError(
          .invalidConfiguration, during: "logging a conflict over \(conflict.id)",
          "The remote state must be a copy or a tombstone.")
      }
    }

    /// Reads the conflict from a row of its number and ``ConflictRows/columns``.
    func conflict() throws(SyncError) -> Conflict {
      let id = RecordID(type: RecordType(text(1)), key: text(2))
      guard let winner = Conflict.Winner(rawValue: text(4)) else {
        throw SyncError(
          .storeUnreadable, during: "reading the conflicts", "One has a winner that does not exist.")
      }
      return Conflict(
        number: integer(0), id: id, settledAt: Timestamp(microseconds: integer(3)),
        local: Edit(content(payload: 19, schemaVersion: 9), stamp: stamp(6)), remote: remote(of: id),
        remoteStamp: stamp(16), base: isNull(21) ? nil : Payload(bytes(21)), winner: winner, reason: text(5))
    }

    private func remote(of id: RecordID) -> RecordChange {
      if isNull(15) != isNull(20) {
        noteDamage("a conflict's copy without its schema version, or the reverse")
      }
      if isNull(15) {
        return .tombstone(Tombstone(id: id, version: version(11), entityTag: optionalText(14)))
      }
      return .upsert(
        Record(
          id: id, version: version(11), entityTag: optionalText(14), schemaVersion: Int(integer(15)),
          payload: Payload(bytes(20)), fields: []))
    }
  }
#endif
