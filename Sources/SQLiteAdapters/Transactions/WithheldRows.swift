#if SQLite
  import SyncModels
  import SyncPorts

  /// The columns and statements of withheld changes.
  enum WithheldRows {
    static let columns = """
      type, slot, kind, change, record_type, record_key, version_epoch, version_sequence, version_modified_at, entity_tag, \
      schema_version, flaw, location, reason, waits_for, pass, fence, since, payload
      """
    static let insert =
      "INSERT INTO set_aside (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
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

    /// Binds everything but the payload to the parameters of ``WithheldRows/insert``.
    func bind(_ entry: WithheldChange) throws(SyncError) {
      clear()
      try bind(entry.key, at: 1)
      try bind(entry.kind.rawValue, at: 3)
      switch entry.change {
      case .upsert(let record):
        try bind("upsert", at: 4)
        try bind(record.id.type.rawValue, at: 5)
        try bind(record.id.key, at: 6)
        try bind(record.version, tag: record.entityTag, at: 7)
        try bind(Int64(record.schemaVersion), at: 11)
      case .tombstone(let tombstone):
        try bind("tombstone", at: 4)
        try bind(tombstone.id.type.rawValue, at: 5)
        try bind(tombstone.id.key, at: 6)
        try bind(tombstone.version, tag: tombstone.entityTag, at: 7)
      case .malformed(let malformed):
        try bind("poison", at: 4)
        try bind(malformed.type.rawValue, at: 5)
        try bind(malformed.key, at: 6)
        try bind(malformed.reason, at: 12)
        try bind(malformed.location, at: 13)
      }
      try bind(entry.reason, at: 14)
      try bind(try encoded(entry.waitsFor, what: "references of a withheld change"), at: 15)
      try bind(entry.pass, at: 16)
      try bind(entry.finder.stored, at: 17)
      try bind(entry.since.microseconds, at: 18)
    }

    /// Reads the entry from a row of ``WithheldRows/columns``.
    func withheld(_ catalog: Catalog) throws(SyncError) -> WithheldChange {
      guard let kind = WithheldChange.Kind(rawValue: text(2)) else {
        throw SyncError(
          .storeUnreadable, during: "reading withheld changes", "An entry has a kind that does not exist.")
      }
      let (key, change) = (key(0), change(catalog))
      if case .record(let id) = key, case .upsert(let record) = change, record.id != id { noteMisfiled() }
      if case .record(let id) = key, case .tombstone(let tombstone) = change, tombstone.id != id {
        noteMisfiled()
      }
      return WithheldChange(
        key: key, kind: kind, change: change, reason: text(13),
        waitsFor: try decoded(
          [RecordID].self, from: text(14), what: "references of a withheld change"),
        pass: integer(15), finder: WithheldChange.Finder(stored: integer(16)),
        since: Timestamp(microseconds: integer(17)))
    }

    private func noteMisfiled() {
      noteDamage("a withheld change under another record's key")
    }

    /// Reads the key from two columns.
    func key(_ column: Int32) -> WithheldChange.Key {
      let type = RecordType(text(column))
      if isText(column + 1) { return .record(RecordID(type: type, key: text(column + 1))) }
      let digest = bytes(column + 1)
      if digest.count != 8 { noteDamage("a digest that is none") }
      return .bytes(type, digest: digest.reduce(0) { $0 << 8 | UInt64($1) })
    }

    private func change(_ catalog: Catalog) -> RecordChange {
      let type = RecordType(text(4))
      switch text(3) {
      case "upsert":
        let payload = Payload(bytes(18))
        let fields = catalog.tables[type]?.entity.storedFields ?? []
        return .upsert(
          Record(
            id: RecordID(type: type, key: text(5)), version: version(6), entityTag: optionalText(9),
            schemaVersion: Int(integer(10)), payload: payload, fields: FieldLifter(fields).values(in: payload)
          ))
      case "tombstone":
        return .tombstone(
          Tombstone(
            id: RecordID(type: type, key: text(5)), version: version(6), entityTag: optionalText(9)))
      default:
        return .malformed(
          MalformedRecord(
            type: type, key: optionalText(5), bytes: Payload(bytes(18)), reason: text(11),
            location: optionalText(12)))
      }
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
        try insert.bind(entry)
        switch entry.change {
        case .upsert(let record):
          try insert.run(lending: record.payload.bytes, at: 19) { () throws(SyncError) in try insert.run() }
        case .malformed(let malformed):
          try insert.run(lending: malformed.bytes.bytes, at: 19) { () throws(SyncError) in try insert.run() }
        case .tombstone:
          try insert.run()
        }
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
