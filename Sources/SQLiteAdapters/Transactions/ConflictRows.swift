#if SQLite
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  /// The columns and statements of the conflict log.
  enum ConflictRows {
    static let names = ConflictColumn.allCases.map(\.name)
    static let columns = names.joined(separator: ", ")
    static let add =
      "INSERT INTO conflicts (\(columns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))"
    static let all = "SELECT \(columns), number FROM conflicts WHERE number < ? ORDER BY number DESC LIMIT ?"
    static let ofType = """
      SELECT \(columns), number FROM conflicts WHERE number < ? AND type = ?3 ORDER BY number DESC LIMIT ?2
      """
    static let remove = "DELETE FROM conflicts WHERE settled_at < ?"
    static let removeOne = "DELETE FROM conflicts WHERE number = ?"
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
      while try statement.step() { conflicts.append(try TableRow(statement).conflict()) }
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
          try statement.run(lendingOptional: remote, at: 20) { () throws(SyncError) in
            try statement.run(lendingOptional: conflict.base, at: 21) { () throws(SyncError) in
              try statement.run()
            }
          }
        }
      }
    }

    func deleteConflicts(settledBefore instant: Timestamp) throws(SyncError) {
      try connection.run(ConflictRows.remove, .number(instant.microseconds))
    }
  }

  extension Statement {
    /// Binds everything but payloads for ``ConflictRows/add``.
    ///
    /// Returns the payload of the remote's copy, if there is one.
    fileprivate func bind(_ conflict: Conflict) throws(SyncError) -> Payload? {
      try bind(conflict.id, at: 1)
      try bind(conflict.settledAt.microseconds, at: 3)
      try bind(conflict.winner.rawValue, at: 4)
      try bind(conflict.reason, at: 5)
      try bind(conflict.local.stamp, at: 6)
      try bind(conflict.local.content.storedSchemaVersion, at: 9)
      try bind(conflict.remoteStamp, at: 16)
      let remote = try conflict.storedRemote()
      try bind(word: remote.word, at: 10)
      try bind(remote.version, tag: remote.tag, at: 11)
      try bind(remote.schemaVersion, at: 15)
      return remote.payload
    }
  }
#endif
