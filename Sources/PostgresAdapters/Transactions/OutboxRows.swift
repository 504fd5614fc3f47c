#if Postgres
  import SyncModels
  import SyncPorts

  /// The columns and statements of the outbox.
  private enum OutboxRows {
    static let names = [
      "type", "id", "rest", "physical", "counter", "replica", "schema_version", "base", "base_epoch",
      "base_sequence", "base_modified_at", "base_entity_tag", "base_schema_version", "sent", "sent_physical",
      "sent_counter", "sent_replica", "sent_schema_version", "state", "state_at", "refusal", "attempts",
      "payload", "base_payload", "sent_payload", "rebuilt_pass", "rebuilt_physical", "rebuilt_counter",
      "rebuilt_replica", "leaves",
    ]
    static let elements: [ColumnArray.Element] = [
      .text, .bytes, .bytes, .int64, .int64, .bytes, .int64, .text, .int64, .int64, .int64, .bytes, .int64,
      .text, .int64, .int64, .bytes, .int64, .text, .int64, .bytes, .int64, .bytes, .bytes, .bytes, .int64,
      .int64, .int64, .bytes, .bytes,
    ]
    static let columns = names.map { "o.\($0)" }.joined(separator: ", ")
    static let given = "unnest($1::text[], $2::bytea[], $3::bytea[])"
    static let sameKey = "o.type = k.type AND o.id = k.id AND o.rest = k.rest"

    static let put = """
      WITH put AS (INSERT INTO outbox (\(names.joined(separator: ", "))) \
      SELECT * FROM unnest(\(elements.placeholders())) \
      ON CONFLICT (type, id, \(StoredKey.digest(of: "rest"))) DO UPDATE SET \
      \(names.dropFirst(3).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")) \
      RETURNING type, (xmax = 0) AS is_new) \
      INSERT INTO counts SELECT type, '\(StoreHeader.pending)', count(*) FROM put WHERE is_new GROUP BY type \
      ON CONFLICT (type, kind) DO UPDATE SET entries = counts.entries + excluded.entries
      """
    static let remove = """
      WITH gone AS (DELETE FROM outbox AS o USING \(given) AS k(type, id, rest) WHERE \(sameKey) RETURNING o.type) \
      INSERT INTO counts SELECT type, '\(StoreHeader.pending)', -count(*) FROM gone GROUP BY type \
      ON CONFLICT (type, kind) DO UPDATE SET entries = counts.entries + excluded.entries
      """
    static let forgetLeaves = """
      DELETE FROM outbox_leaves AS l USING \(given) AS k(type, id, rest), outbox AS o \
      WHERE \(sameKey) AND l.entry = o.entry
      """
    static let noteLeaves = """
      INSERT INTO outbox_leaves SELECT k.target_type, k.target_id, k.target_rest, o.entry \
      FROM unnest($1::text[], $2::bytea[], $3::bytea[], $4::text[], $5::bytea[], $6::bytea[]) \
      AS k(type, id, rest, target_type, target_id, target_rest) JOIN outbox AS o ON \(sameKey)
      """
  }

  // MARK: Reading

  extension PostgresSnapshot {
    private func mayHaveEdits() -> Bool { mayHave { $0 == StoreHeader.pending } }

    func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry] {
      guard !ids.isEmpty, mayHaveEdits() else { return [] }
      let sql = """
        SELECT \(OutboxRows.columns) FROM \(OutboxRows.given) AS k(type, id, rest) \
        JOIN outbox AS o ON \(OutboxRows.sameKey)
        """
      return try query(sql, during: "reading the outbox") { $0.add(ids: ids) }.map {
        (row) throws(SyncError) in
        try row.outboxEntry()
      }
    }

    func outbox(_ type: RecordType, after: EditStamp?, limit: Int) throws(SyncError) -> [OutboxEntry] {
      guard limit > 0, mayHaveEdits() else { return [] }
      let sql = """
        SELECT \(OutboxRows.columns) FROM outbox AS o WHERE o.type = $1::text AND ($4::bytea IS NULL \
        OR (o.physical, o.counter, o.replica) > ($2::bigint, $3::bigint, $4::bytea)) \
        AND (o.physical, o.counter) >= ($2::bigint, $3::bigint) \
        ORDER BY o.type, o.physical, o.counter, o.replica, o.id, o.rest LIMIT $5::bigint
        """
      let rows = try query(sql, during: "reading the outbox") { parameters in
        parameters.add(text: type.rawValue)
        parameters.add(after?.physical.microseconds ?? Int64.min)
        parameters.add(after.map { Int64($0.counter) } ?? Int64.min)
        parameters.add(bytes: after.map { Array($0.replica.utf8) })
        parameters.add(Int64(limit))
      }
      return try rows.map { (row) throws(SyncError) in try row.outboxEntry() }
    }

    func outbox(leaving ids: [RecordID], limit: Int) throws(SyncError) -> [[OutboxEntry]] {
      guard !ids.isEmpty, limit > 0, mayHaveEdits() else { return ids.map { _ in [] } }
      let sql = """
        SELECT \(OutboxRows.columns), k.n FROM unnest($1::text[], $2::bytea[], $3::bytea[]) \
        WITH ORDINALITY AS k(type, id, rest, n) CROSS JOIN LATERAL (SELECT o.* FROM outbox_leaves AS l \
        JOIN outbox AS o USING (entry) WHERE l.target_type = k.type AND l.target_id = k.id \
        AND l.target_rest = k.rest ORDER BY o.type, o.id, o.rest LIMIT $4::bigint) AS o \
        ORDER BY k.n, o.type, o.id, o.rest
        """
      let rows = try query(sql, during: "reading the outbox") {
        $0.add(ids: ids)
        $0.add(Int64(limit))
      }
      var lists = [[OutboxEntry]](repeating: [], count: ids.count)
      for row in try rows.map({ $0 }) {
        lists[Int(row.integer(OutboxRows.names.count)) - 1].append(try row.outboxEntry())
      }
      return lists
    }
  }

  extension ResultRow {
    /// Reads the entry from a row of ``OutboxRows/columns``.
    fileprivate func outboxEntry() throws(SyncError) -> OutboxEntry {
      let id = RecordID(type: RecordType(text(0)), key: key(1))
      let edit = Edit(content(payload: 22, schemaVersion: 6), stamp: stamp(3))
      return OutboxEntry(
        id: id, edit: edit, base: try base(of: id), sent: try sent(insteadOf: edit), state: try state(),
        attempts: Int(integer(21)), author: author(), leaves: try leaves())
    }

    private func author() -> OutboxEntry.Author {
      if isNull(25) { return .app }
      return .rebuild(OutboxEntry.Rebuilt(lastWrite: stamp(26), pass: integer(25)))
    }

    private func leaves() throws(SyncError) -> [RecordID] {
      if isNull(29) { return [] }
      return try decoded([RecordID].self, from: text(29), what: "records that an edit leaves")
    }

    private func base(of id: RecordID) throws(SyncError) -> OutboxEntry.Base {
      switch text(7) {
      case "none": return .none
      case "copy":
        return .copy(
          Record(
            id: id, version: version(8), entityTag: optionalText(11), schemaVersion: Int(integer(12)),
            payload: Payload(bytes(23)), fields: []))
      case "deleted": return .deleted(Tombstone(id: id, version: version(8), entityTag: optionalText(11)))
      default: throw unreadable("base")
      }
    }

    private func sent(insteadOf edit: Edit) throws(SyncError) -> Edit? {
      switch text(13) {
      case "nothing": return nil
      case "edit": return edit
      case "other": return Edit(content(payload: 24, schemaVersion: 17), stamp: stamp(14))
      default: throw unreadable("word for what was sent")
      }
    }

    private func state() throws(SyncError) -> OutboxEntry.State {
      switch text(18) {
      case "waiting": return .waiting
      case "postponed": return .postponed(until: Timestamp(microseconds: integer(19)))
      case "refused": return .refused(reason: text(20), at: Timestamp(microseconds: integer(19)))
      default: throw unreadable("state")
      }
    }

    private func unreadable(_ what: String) -> SyncError {
      SyncError(.storeUnreadable, during: "reading the outbox", "An entry has a \(what) that does not exist.")
    }

    /// Reads an edit's content; a deletion has no schema version.
    func content(payload: Int, schemaVersion: Int) -> Edit.Content {
      guard let version = optionalInteger(schemaVersion) else { return .deletion }
      return .upsert(Payload(bytes(payload)), schemaVersion: Int(version))
    }

    /// Reads a stamp from three columns.
    func stamp(_ column: Int) -> EditStamp {
      EditStamp(
        physical: Timestamp(microseconds: integer(column)),
        counter: UInt32(clamping: integer(column + 1)), replica: text(column + 2))
    }
  }

  // MARK: Writing

  extension PostgresTransaction {
    func removeFromOutbox(_ ids: [RecordID]) {
      guard !ids.isEmpty, mayHave({ $0 == StoreHeader.pending }) else { return }
      forgetCounts()
      connection.enqueue(Statement(OutboxRows.remove) { $0.add(ids: ids) })
    }

    func insertIntoOutbox(_ entries: [OutboxEntry]) throws(SyncError) {
      if mayHave({ $0 == StoreHeader.pending }) {
        connection.enqueue(Statement(OutboxRows.forgetLeaves) { $0.add(ids: entries.lazy.map(\.id)) })
      }
      forgetCounts()
      var columns = OutboxRows.elements.map { ColumnArray($0) }
      for entry in entries { try columns.append(entry) }
      connection.enqueue(Statement(OutboxRows.put) { $0.add(columns) })
      var leaves = [ColumnArray](.text, .bytes, .bytes, .text, .bytes, .bytes)
      for entry in entries {
        for target in Set(entry.leaves) {
          leaves[0].append(entry.id.type.rawValue)
          leaves.append(key: entry.id.key, at: 1)
          leaves[3].append(target.type.rawValue)
          leaves.append(key: target.key, at: 4)
        }
      }
      if leaves[0].count > 0 { connection.enqueue(Statement(OutboxRows.noteLeaves) { $0.add(leaves) }) }
    }
  }

  extension [ColumnArray] {
    fileprivate mutating func append(_ entry: OutboxEntry) throws(SyncError) {
      self[0].append(entry.id.type.rawValue)
      append(key: entry.id.key, at: 1)
      append(entry.edit.stamp, at: 3)
      append(schemaVersionOf: entry.edit.content, at: 6)
      append(entry.base)
      append(sentBy: entry)
      append(entry.state)
      self[21].append(Int64(entry.attempts))
      self[22].append(entry.edit.content.payload?.bytes)
      if case .rebuild(let rebuilt) = entry.author {
        self[25].append(rebuilt.pass)
        append(rebuilt.lastWrite, at: 26)
      } else {
        for place in 25...28 { self[place].appendNull() }
      }
      self[29].append(
        entry.leaves.isEmpty ? nil : try encoded(entry.leaves, what: "records that an edit leaves"))
    }

    private mutating func append(_ base: OutboxEntry.Base) {
      switch base {
      case .none:
        self[7].append("none")
        for place in 8...12 { self[place].appendNull() }
      case .copy(let record):
        self[7].append("copy")
        append(record.version, tag: record.entityTag, at: 8)
        self[12].append(Int64(record.schemaVersion))
      case .deleted(let tombstone):
        self[7].append("deleted")
        append(tombstone.version, tag: tombstone.entityTag, at: 8)
        self[12].appendNull()
      }
      self[23].append(base.record?.payload.bytes)
    }

    private mutating func append(sentBy entry: OutboxEntry) {
      if let sent = entry.sent, sent != entry.edit {
        self[13].append("other")
        append(sent.stamp, at: 14)
        append(schemaVersionOf: sent.content, at: 17)
        self[24].append(sent.content.payload?.bytes)
        return
      }
      self[13].append(entry.sent == nil ? "nothing" : "edit")
      for place in 14...17 { self[place].appendNull() }
      self[24].appendNull()
    }

    private mutating func append(_ state: OutboxEntry.State) {
      switch state {
      case .waiting:
        self[18].append("waiting")
        self[19].appendNull()
        self[20].appendNull()
      case .postponed(let time):
        self[18].append("postponed")
        self[19].append(time.microseconds)
        self[20].appendNull()
      case .refused(let reason, let time):
        self[18].append("refused")
        self[19].append(time.microseconds)
        self[20].append(reason)
      }
    }

    /// Appends a stamp to three columns.
    mutating func append(_ stamp: EditStamp, at place: Int) {
      self[place].append(stamp.physical.microseconds)
      self[place + 1].append(Int64(stamp.counter))
      self[place + 2].append(stamp.replica)
    }

    /// Appends the schema version of an edit; null for a deletion.
    mutating func append(schemaVersionOf content: Edit.Content, at place: Int) {
      if case .upsert(_, let version) = content {
        self[place].append(Int64(version))
      } else {
        self[place].appendNull()
      }
    }
  }
#endif
