#if SQLite
  import CanonicalSyncDatabases
  import SyncModels

  // The references of withheld copies, in a separate table.

  extension SQLiteSnapshot {
    func withheld(
      _ relation: WithheldChange.Relation, _ ids: [RecordID], kinds: Set<WithheldChange.Kind>,
      after: WithheldChange.Key?, limit: Int
    ) throws(SyncError) -> [WithheldChange] {
      guard limit > 0, !kinds.isEmpty else { return [] }
      let table = relation == .waitingFor ? "waiting" : "set_aside_references"
      // Each record's first entries suffice to find the first ones of all.
      let statement = try connection.statement(
        """
        SELECT found.type, found.slot FROM \(table) AS found JOIN set_aside USING (entry) \
        WHERE target_type = ?1 AND target_key = ?2 AND (is_bytes, found.type, found.slot) > (?3, ?4, ?5) \
        AND kind IN (\(kinds.indices.enumerated().map { "?\($0.offset + 7)" }.joined(separator: ", "))) \
        ORDER BY is_bytes, found.type, found.slot LIMIT ?6
        """)
      defer { statement.clear() }
      if let after {
        try statement.bind(Int64(after.isBytes ? 1 : 0), at: 3)
        try statement.bind(after, at: 4)
      } else {
        try statement.bind(Int64(-1), at: 3)
      }
      try statement.bind(Int64(limit), at: 6)
      for (place, kind) in kinds.enumerated() { try statement.bind(kind.rawValue, at: Int32(7 + place)) }
      var keys: Set<WithheldChange.Key> = []
      for id in ids {
        defer { statement.reset() }
        try statement.bind(id.type.rawValue, at: 1)
        try statement.bind(id.key, at: 2)
        while try statement.step() { keys.insert(statement.key(0)) }
      }
      return try withheld(for: Array(keys.sorted().prefix(limit)))
    }
  }

  extension Connection {
    /// Stores the references of an entry's copy. References of staged copies are not needed.
    func noteReferences(_ entry: WithheldChange, number: Int64, by entity: Entity) throws(SyncError) {
      guard entry.kind != .staged, !entity.references.isEmpty, case .upsert(let copy) = entry.change else {
        return
      }
      let record = copy.fields.count == entity.fields.count ? copy : copy.withFields(of: entity)
      try statement("INSERT OR IGNORE INTO set_aside_references VALUES (?, ?, ?, ?, ?, ?)")
        .tie(entry.key, number: number, to: entity.allReferences(of: record))
    }
  }

  /// Reads the references of one type's entries again after a change of its declaration.
  ///
  /// While this is not complete, `meta` has the number of the last processed entry.
  struct ReferenceRenewal {
    let connection: Connection
    let entity: Entity

    private static let portion = 500
    static let prefix = "references/"
    private var name: String { Self.prefix + entity.type.rawValue }

    /// Requests that all entries be read, from the first one on.
    func demand() throws(SyncError) {
      try connection.run(
        "INSERT OR REPLACE INTO meta SELECT ?1, 0 FROM set_aside WHERE type = ?2 LIMIT 1", .text(name),
        .text(entity.type.rawValue))
    }

    /// Reads a portion in a transaction, and returns whether more may remain.
    func renewPortion() throws(SyncError) -> Bool {
      try connection.transaction(.write) { () throws(SyncError) -> Bool in
        try connection.demandKnownLayout()
        return try renewInTransaction()
      }
    }

    private func renewInTransaction() throws(SyncError) -> Bool {
      guard let reached = try reached() else { return false }
      let entries = try entries(after: reached)
      for (number, entry) in entries {
        try connection.run("DELETE FROM set_aside_references WHERE entry = ?", .number(number))
        try connection.noteReferences(entry, number: number, by: entity)
      }
      guard entries.count == Self.portion, let last = entries.last else {
        try connection.run("DELETE FROM meta WHERE key = ?", .text(name))
        return false
      }
      try connection.run("UPDATE meta SET value = ?2 WHERE key = ?1", .text(name), .number(last.number))
      if last.number <= reached || connection.changes == 0 {
        connection.noteDamage("entries that are read anew and are not")
      }
      return true
    }

    private func reached() throws(SyncError) -> Int64? {
      try connection.first("SELECT value FROM meta WHERE key = ?", .text(name)) { $0.integer(0) }
    }

    private func entries(after number: Int64) throws(SyncError) -> [(number: Int64, entry: WithheldChange)] {
      let statement = try connection.statement(
        """
        SELECT \(WithheldRows.columns), entry FROM set_aside WHERE entry > ? AND type = ? ORDER BY entry LIMIT ?
        """)
      defer { statement.reset() }
      try statement.bind(number, at: 1)
      try statement.bind(entity.type.rawValue, at: 2)
      try statement.bind(Int64(Self.portion), at: 3)
      var entries: [(number: Int64, entry: WithheldChange)] = []
      // Copies come without fields. The current declaration reads them.
      while try statement.step() {
        entries.append((statement.integer(WithheldRows.names.count), try statement.withheld(Catalog())))
      }
      return entries
    }
  }
#endif
