#if SQLite
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  /// The columns and statements of withheld changes.
  enum WithheldRows {
    static let names = WithheldColumn.allCases.map(\.name)
    static let columns = names.joined(separator: ", ")
    static let insert =
      "INSERT INTO set_aside (\(columns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))"
    static let remove = "DELETE FROM set_aside WHERE type = ? AND slot = ?"
  }

  extension Statement {
    /// Binds a key's type and its slot.
    ///
    /// The slot is a record's key as text, or a digest as eight bytes, which sort after all texts.
    func bind(_ key: WithheldChange.Key, at index: Int32) throws(SyncError) {
      try bind(key.type.rawValue, at: index)
      try bindSlot(of: key, at: index + 1)
    }

    /// Inserts a row for each record that an entry depends on.
    func tie(_ key: WithheldChange.Key, number: Int64, to targets: [RecordID]) throws(SyncError) {
      for target in targets {
        try bind(target.type.rawValue, at: 1)
        try bind(target.key, at: 2)
        try bind(Int64(key.isBytes ? 1 : 0), at: 3)
        try bind(key, at: 4)
        try bind(number, at: 6)
        try run()
      }
    }

    func bindSlot(of key: WithheldChange.Key, at index: Int32) throws(SyncError) {
      switch key {
      case .record(let id): try bind(id.key, at: index)
      case .bytes(_, let digest): try bind(withUnsafeBytes(of: digest.bigEndian) { Array($0) }, at: index)
      }
    }

    /// Runs ``WithheldRows/insert``.
    fileprivate func run(_ entry: WithheldChange) throws(SyncError) {
      let change = entry.change.stored
      try bind(entry.key, at: 1)
      try bind(entry.kind.rawValue, at: 3)
      try bind(word: change.word, at: 4)
      try bind(change.type.rawValue, at: 5)
      try bind(change.key, at: 6)
      try bind(change.version, tag: change.tag, at: 7)
      try bind(change.schemaVersion, at: 11)
      try bind(change.flaw, at: 12)
      try bind(change.location, at: 13)
      try bind(entry.reason, at: 14)
      try bind(try encoded(entry.waitsFor, what: "references of a withheld change"), at: 15)
      try bind(entry.pass, at: 16)
      try bind(entry.finder.stored, at: 17)
      try bind(entry.since.microseconds, at: 18)
      try run(lendingOptional: change.payload, at: 19) { () throws(SyncError) in try run() }
    }

    /// Reads the entry from a row of ``WithheldRows/columns``.
    func withheld(_ catalog: Catalog) throws(SyncError) -> WithheldChange {
      try TableRow<WithheldColumn, Statement>(self).entry(under: key(0)) { type, payload in
        FieldLifter(catalog.tables[type]?.entity.storedFields ?? []).values(in: payload)
      }
    }

    /// Reads the key from two columns.
    func key(_ column: Int) -> WithheldChange.Key {
      let type = RecordType(text(column))
      if isText(column + 1) { return .record(RecordID(type: type, key: text(column + 1))) }
      let digest = bytes(column + 1)
      if digest.count != 8 { noteDamage("a digest that is none") }
      return .bytes(type, digest: digest.reduce(0) { $0 << 8 | UInt64($1) })
    }
  }

  // MARK: Reading

  extension SQLiteSnapshot {
    func withheld(
      _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
    ) throws(SyncError) -> [WithheldChange] {
      guard limit > 0, !kinds.isEmpty else { return [] }
      let places = kinds.map { _ in "?" }.joined(separator: ", ")
      let statement = try connection.statement(
        """
        SELECT \(WithheldRows.columns) FROM set_aside WHERE type = ? AND slot > ? AND kind IN (\(places)) \
        ORDER BY slot LIMIT ?
        """)
      defer { statement.reset() }
      try statement.bind(type.rawValue, at: 1)
      // Keys are never empty, so every slot comes after the empty string.
      if let after { try statement.bindSlot(of: after, at: 2) } else { try statement.bind("", at: 2) }
      for (place, kind) in kinds.enumerated() { try statement.bind(kind.rawValue, at: Int32(3 + place)) }
      try statement.bind(Int64(limit), at: Int32(3 + kinds.count))
      var entries: [WithheldChange] = []
      while try statement.step() { entries.append(try statement.withheld(catalog)) }
      return entries
    }

    func withheldCounts(_ type: RecordType) throws(SyncError) -> [WithheldChange.Kind: Int] {
      let statement = try connection.statement(
        "SELECT kind, entries FROM set_aside_counts WHERE type = ? AND entries > 0")
      defer { statement.reset() }
      try statement.bind(type.rawValue, at: 1)
      var counts: [WithheldChange.Kind: Int] = [:]
      while try statement.step() {
        if let kind = WithheldChange.Kind(rawValue: statement.text(0)) { counts[kind] = statement.count(1) }
      }
      return counts
    }

    func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange] {
      let statement = try connection.statement(
        "SELECT \(WithheldRows.columns) FROM set_aside WHERE type = ? AND slot = ?")
      var entries: [WithheldChange] = []
      for key in keys {
        defer { statement.reset() }
        try statement.bind(key, at: 1)
        if try statement.step() { entries.append(try statement.withheld(catalog)) }
      }
      return entries
    }
  }

  // MARK: Writing

  extension SQLiteTransaction {
    func insertWithheld(_ entries: [WithheldChange]) throws(SyncError) {
      try removeWithheld(entries.map(\.key))
      let insert = try connection.statement(WithheldRows.insert)
      defer { insert.clear() }
      for entry in entries {
        try insert.run(entry)
        let number = connection.lastRow
        if entry.kind == .parked { try noteWaiting(entry, number: number) }
        if let entity = catalog.tables[entry.key.type]?.entity {
          try connection.noteReferences(entry, number: number, by: entity)
        }
      }
    }

    /// Stores what a parked entry waits for.
    private func noteWaiting(_ entry: WithheldChange, number: Int64) throws(SyncError) {
      try connection.statement("INSERT OR IGNORE INTO waiting VALUES (?, ?, ?, ?, ?, ?)")
        .tie(entry.key, number: number, to: entry.waitsFor)
    }

    func removeWithheld(_ keys: [WithheldChange.Key]) throws(SyncError) {
      let statement = try connection.statement(WithheldRows.remove)
      for key in keys {
        try statement.bind(key, at: 1)
        try statement.run()
      }
    }
  }
#endif
