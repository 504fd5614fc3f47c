#if SQLite
  import SyncModels
  import SyncPorts

  /// How outbox entries lie in their table.
  enum OutboxRows {
    private static let names = [
      "type", "id", "physical", "counter", "replica", "schema_version",
      "base", "base_epoch", "base_sequence", "base_modified_at", "base_entity_tag", "base_schema_version",
      "sent", "sent_physical", "sent_counter", "sent_replica", "sent_schema_version",
      "state", "state_at", "refusal", "attempts", "payload", "base_payload", "sent_payload",
    ]
    static let columns = names.joined(separator: ", ")
    static let put = """
      INSERT INTO outbox (\(columns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) \
      ON CONFLICT (type, id) DO UPDATE SET \
      \(names.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
      """
    static let ofRecord = "SELECT \(columns) FROM outbox WHERE type = ? AND id = ?"
    static let ofType = """
      SELECT \(columns) FROM outbox WHERE type = ? AND (physical, counter, replica) > (?, ?, ?) \
      ORDER BY physical, counter, replica, id LIMIT ?
      """
    static let firstOfType = """
      SELECT \(columns) FROM outbox WHERE type = ? ORDER BY physical, counter, replica, id LIMIT ?
      """
    static let count = "SELECT count(*) FROM outbox WHERE type = ?"
    static let remove = "DELETE FROM outbox WHERE type = ? AND id = ?"

    /// The words for what was sent.
    enum Sent: String { case nothing, edit, other }
  }

  // MARK: Reading

  extension SQLiteSnapshot {
    func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry] {
      let statement = try connection.statement(OutboxRows.ofRecord)
      var entries: [OutboxEntry] = []
      for id in ids {
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        if try statement.step() { entries.append(try statement.outboxEntry()) }
      }
      return entries
    }

    func outbox(_ type: RecordType, after: EditStamp?, limit: Int) throws(SyncError) -> [OutboxEntry] {
      guard limit > 0 else { return [] }
      let statement = try connection.statement(after == nil ? OutboxRows.firstOfType : OutboxRows.ofType)
      defer { statement.reset() }
      try statement.bind(type.rawValue, at: 1)
      if let after { try statement.bind(after, at: 2) }
      try statement.bind(Int64(limit), at: after == nil ? 2 : 5)
      var entries: [OutboxEntry] = []
      while try statement.step() { entries.append(try statement.outboxEntry()) }
      return entries
    }

    func outboxCount(_ type: RecordType) throws(SyncError) -> Int {
      let statement = try connection.statement(OutboxRows.count)
      defer { statement.reset() }
      try statement.bind(type.rawValue, at: 1)
      return try statement.step() ? Int(statement.integer(0)) : 0
    }
  }

  extension Statement {
    /// The entry in a row of ``OutboxRows/columns``.
    fileprivate func outboxEntry() throws(SyncError) -> OutboxEntry {
      let id = RecordID(type: RecordType(text(0)), key: text(1))
      let edit = Edit(content(payload: 21, schemaVersion: 5), stamp: stamp(2))
      return OutboxEntry(
        id: id, edit: edit, base: try base(of: id), sent: try sent(insteadOf: edit), state: try outboxState(),
        attempts: Int(integer(20)))
    }

    private func base(of id: RecordID) throws(SyncError) -> OutboxEntry.Base {
      switch text(6) {
      case "none": return .none
      case "deleted":
        return .deleted(Tombstone(id: id, version: version(7), entityTag: optionalText(10)))
      case "copy":
        return .copy(
          Record(
            id: id, version: version(7), entityTag: optionalText(10), schemaVersion: Int(integer(11)),
            payload: Payload(bytes(22)), fields: []))
      default: throw unreadable("base")
      }
    }

    private func sent(insteadOf edit: Edit) throws(SyncError) -> Edit? {
      switch OutboxRows.Sent(rawValue: text(12)) {
      case .nothing: return nil
      case .edit: return edit
      case .other: return Edit(content(payload: 23, schemaVersion: 16), stamp: stamp(13))
      case nil: throw unreadable("word for what was sent")
      }
    }

    private func outboxState() throws(SyncError) -> OutboxEntry.State {
      switch text(17) {
      case "waiting": return .waiting
      case "postponed": return .postponed(until: Timestamp(microseconds: integer(18)))
      case "refused": return .refused(reason: text(19), at: Timestamp(microseconds: integer(18)))
      default: throw unreadable("state")
      }
    }

    private func unreadable(_ what: String) -> SyncError {
      SyncError(.storeUnreadable, during: "reading the outbox", "An entry has a \(what) that does not exist.")
    }
  }

  // MARK: Writing

  extension SQLiteTransaction {
    func queue(_ entries: [OutboxEntry]) throws(SyncError) {
      let statement = try connection.statement(OutboxRows.put)
      defer { statement.clear() }
      for entry in entries {
        let sent = try statement.bind(entry)
        try statement.run(lendingOptional: entry.edit.content.payload, at: 22) { () throws(SyncError) in
          try statement.run(lendingOptional: entry.base.record?.payload, at: 23) { () throws(SyncError) in
            try statement.run(lendingOptional: sent?.content.payload, at: 24) { () throws(SyncError) in
              try statement.run()
            }
          }
        }
      }
    }

    func dequeue(_ ids: [RecordID]) throws(SyncError) {
      let statement = try connection.statement(OutboxRows.remove)
      for id in ids {
        try statement.bind(id, at: 1)
        try statement.run()
      }
    }
  }

  extension Statement {
    /// Binds everything but payloads to the parameters of ``OutboxRows/put``, and gives what was sent if it is kept apart.
    fileprivate func bind(_ entry: OutboxEntry) throws(SyncError) -> Edit? {
      try bind(entry.id, at: 1)
      try bind(entry.edit.stamp, at: 3)
      try bind(schemaVersionOf: entry.edit.content, at: 6)
      try bind(entry.base)
      let other = try bindSent(entry)
      try bind(entry.state)
      try bind(Int64(entry.attempts), at: 21)
      return other
    }

    private func bind(_ base: OutboxEntry.Base) throws(SyncError) {
      switch base {
      case .none:
        try bind("none", at: 7)
        for index in Int32(8)...12 { try bindNull(at: index) }
      case .copy(let record):
        try bind("copy", at: 7)
        try bind(record.version, tag: record.entityTag, at: 8)
        try bind(Int64(record.schemaVersion), at: 12)
      case .deleted(let tombstone):
        try bind("deleted", at: 7)
        try bind(tombstone.version, tag: tombstone.entityTag, at: 8)
        try bindNull(at: 12)
      }
    }

    private func bindSent(_ entry: OutboxEntry) throws(SyncError) -> Edit? {
      // Mostly the edit itself is what was sent last, and need not be there twice.
      guard let sent = entry.sent, sent != entry.edit else {
        let word: OutboxRows.Sent = entry.sent == nil ? .nothing : .edit
        try bind(word.rawValue, at: 13)
        for index in Int32(14)...17 { try bindNull(at: index) }
        return nil
      }
      try bind(OutboxRows.Sent.other.rawValue, at: 13)
      try bind(sent.stamp, at: 14)
      try bind(schemaVersionOf: sent.content, at: 17)
      return sent
    }

    private func bind(_ state: OutboxEntry.State) throws(SyncError) {
      switch state {
      case .waiting:
        try bind("waiting", at: 18)
        try bindNull(at: 19)
        try bindNull(at: 20)
      case .postponed(let instant):
        try bind("postponed", at: 18)
        try bind(instant.microseconds, at: 19)
        try bindNull(at: 20)
      case .refused(let reason, let instant):
        try bind("refused", at: 18)
        try bind(instant.microseconds, at: 19)
        try bind(reason, at: 20)
      }
    }
  }
#endif
