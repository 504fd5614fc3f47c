#if Postgres
  import SyncModels
  import SyncPorts

  /// The columns of the outbox.
  private enum OutboxColumn: Int, TableColumn {
    case type, id, rest, physical, counter, replica, schemaVersion, base, baseEpoch, baseSequence,
      baseModifiedAt, baseEntityTag, baseSchemaVersion, sent, sentPhysical, sentCounter, sentReplica,
      sentSchemaVersion, state, stateAt, refusal, attempts, payload, basePayload, sentPayload, rebuiltPass,
      rebuiltPhysical, rebuiltCounter, rebuiltReplica, rebuiltWinner, leaves

    var element: ColumnArray.Element {
      switch self {
      case .type, .base, .sent, .state: .text
      case .id, .rest, .replica, .baseEntityTag, .sentReplica, .refusal, .payload, .basePayload, .sentPayload,
        .rebuiltReplica, .rebuiltWinner, .leaves:
        .bytes
      case .physical, .counter, .schemaVersion, .baseEpoch, .baseSequence, .baseModifiedAt,
        .baseSchemaVersion, .sentPhysical, .sentCounter, .sentSchemaVersion, .stateAt, .attempts,
        .rebuiltPass, .rebuiltPhysical, .rebuiltCounter:
        .int64
      }
    }
  }

  /// The statements of the outbox.
  private enum OutboxRows {
    static let columns = OutboxColumn.names.map { "o.\($0)" }.joined(separator: ", ")
    static let given = "unnest($1::text[], $2::bytea[], $3::bytea[])"
    static let sameKey = "o.type = k.type AND o.id = k.id AND o.rest = k.rest"

    static let put = """
      WITH put AS (INSERT INTO outbox (\(OutboxColumn.names.joined(separator: ", "))) \
      SELECT * FROM unnest(\(OutboxColumn.elements.placeholders())) \
      ON CONFLICT (type, id, \(StoredKey.digest(of: "rest"))) DO UPDATE SET \
      \(OutboxColumn.names.dropFirst(3).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")) \
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
        try TableRow<OutboxColumn>(row).outboxEntry()
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
      return try rows.map { (row) throws(SyncError) in try TableRow<OutboxColumn>(row).outboxEntry() }
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
      for row in try rows.map({ TableRow<OutboxColumn>($0) }) {
        lists[Int(row.integerBehind) - 1].append(try row.outboxEntry())
      }
      return lists
    }
  }

  extension TableRow<OutboxColumn> {
    /// Reads the entry from a row of ``OutboxRows/columns``.
    fileprivate func outboxEntry() throws(SyncError) -> OutboxEntry {
      let id = RecordID(type: RecordType(text(.type)), key: key(.id))
      let edit = Edit(content(payload: .payload, schemaVersion: .schemaVersion), stamp: stamp(.physical))
      return OutboxEntry(
        id: id, edit: edit, base: try base(of: id), sent: try sent(insteadOf: edit), state: try state(),
        attempts: try attempts(), author: author(of: id.type), leaves: try leaves())
    }

    private func attempts() throws(SyncError) -> Int {
      let number = integer(.attempts)
      guard StoredNumbers.counts.contains(number) else { throw unreadable("number of attempts") }
      return Int(number)
    }

    private func author(of type: RecordType) -> OutboxEntry.Author {
      if isNull(.rebuiltPass) { return .app }
      let winner = isNull(.rebuiltWinner) ? nil : RecordID(type: type, key: text(.rebuiltWinner))
      return .rebuild(
        OutboxEntry.Rebuilt(lastWrite: stamp(.rebuiltPhysical), pass: integer(.rebuiltPass), winner: winner))
    }

    private func leaves() throws(SyncError) -> [RecordID] {
      if isNull(.leaves) { return [] }
      return try decoded([RecordID].self, from: text(.leaves), what: "records that an edit leaves")
    }

    private func base(of id: RecordID) throws(SyncError) -> OutboxEntry.Base {
      switch text(.base) {
      case "none": return .none
      case "copy":
        return .copy(
          Record(
            id: id, version: version(.baseEpoch), entityTag: optionalText(.baseEntityTag),
            schemaVersion: Int(integer(.baseSchemaVersion)),
            payload: Payload(bytes(.basePayload)), fields: []))
      case "deleted":
        return .deleted(
          Tombstone(id: id, version: version(.baseEpoch), entityTag: optionalText(.baseEntityTag)))
      default: throw unreadable("base")
      }
    }

    private func sent(insteadOf edit: Edit) throws(SyncError) -> Edit? {
      switch text(.sent) {
      case "nothing": return nil
      case "edit": return edit
      case "other":
        return Edit(
          content(payload: .sentPayload, schemaVersion: .sentSchemaVersion), stamp: stamp(.sentPhysical))
      default: throw unreadable("word for what was sent")
      }
    }

    private func state() throws(SyncError) -> OutboxEntry.State {
      switch text(.state) {
      case "waiting": return .waiting
      case "postponed": return .postponed(until: time(.stateAt))
      case "refused": return .refused(reason: text(.refusal), at: time(.stateAt))
      default: throw unreadable("state")
      }
    }

    private func unreadable(_ what: String) -> SyncError {
      SyncError(.storeUnreadable, during: "reading the outbox", "An entry has a \(what) that cannot be.")
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
      var columns = TableArrays<OutboxColumn>()
      for entry in entries { try columns.append(entry) }
      connection.enqueue(Statement(OutboxRows.put) { $0.add(columns.arrays) })
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

  extension TableArrays<OutboxColumn> {
    fileprivate mutating func append(_ entry: OutboxEntry) throws(SyncError) {
      self[.type].append(entry.id.type.rawValue)
      append(key: entry.id.key, at: .id)
      append(entry.edit.stamp, at: .physical)
      append(schemaVersionOf: entry.edit.content, at: .schemaVersion)
      append(entry.base)
      append(sentBy: entry)
      append(entry.state)
      self[.attempts].append(Int64(entry.attempts))
      self[.payload].append(entry.edit.content.payload?.bytes)
      if case .rebuild(let rebuilt) = entry.author {
        self[.rebuiltPass].append(rebuilt.pass)
        append(rebuilt.lastWrite, at: .rebuiltPhysical)
        self[.rebuiltWinner].append(rebuilt.winner?.key)
      } else {
        appendNull(from: .rebuiltPass, through: .rebuiltWinner)
      }
      self[.leaves].append(
        entry.leaves.isEmpty ? nil : try encoded(entry.leaves, what: "records that an edit leaves"))
    }

    private mutating func append(_ base: OutboxEntry.Base) {
      switch base {
      case .none:
        self[.base].append("none")
        appendNull(from: .baseEpoch, through: .baseSchemaVersion)
      case .copy(let record):
        self[.base].append("copy")
        append(record.version, tag: record.entityTag, at: .baseEpoch)
        self[.baseSchemaVersion].append(Int64(record.schemaVersion))
      case .deleted(let tombstone):
        self[.base].append("deleted")
        append(tombstone.version, tag: tombstone.entityTag, at: .baseEpoch)
        self[.baseSchemaVersion].appendNull()
      }
      self[.basePayload].append(base.record?.payload.bytes)
    }

    private mutating func append(sentBy entry: OutboxEntry) {
      if let sent = entry.sent, sent != entry.edit {
        self[.sent].append("other")
        append(sent.stamp, at: .sentPhysical)
        append(schemaVersionOf: sent.content, at: .sentSchemaVersion)
        self[.sentPayload].append(sent.content.payload?.bytes)
        return
      }
      self[.sent].append(entry.sent == nil ? "nothing" : "edit")
      appendNull(from: .sentPhysical, through: .sentSchemaVersion)
      self[.sentPayload].appendNull()
    }

    private mutating func append(_ state: OutboxEntry.State) {
      switch state {
      case .waiting:
        self[.state].append("waiting")
        self[.stateAt].appendNull()
        self[.refusal].appendNull()
      case .postponed(let time):
        self[.state].append("postponed")
        self[.stateAt].append(time.microseconds)
        self[.refusal].appendNull()
      case .refused(let reason, let time):
        self[.state].append("refused")
        self[.stateAt].append(time.microseconds)
        self[.refusal].append(reason)
      }
    }
  }
#endif
