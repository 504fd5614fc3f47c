#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  extension OutboxColumn: TableColumn {
    static let key: [Part] = [("id", .bytes), ("rest", .bytes)]

    var element: ColumnArray.Element {
      switch self {
      case .type, .base, .sent, .state: .text
      case .id, .replica, .baseEntityTag, .sentReplica, .refusal, .payload, .basePayload, .sentPayload,
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
        (row) throws(SyncError) in try row.outboxEntry()
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
      for row in rows {
        lists[Int(row.integer(OutboxColumn.names.count)) - 1].append(try row.outboxEntry())
      }
      return lists
    }
  }

  extension ResultRow {
    /// Reads the entry from a row of ``OutboxRows/columns``.
    fileprivate func outboxEntry() throws(SyncError) -> OutboxEntry {
      try TableRow(KeyedRow<OutboxColumn>(self)).entry(of: RecordID(type: RecordType(text(0)), key: key(1)))
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
      arrays.append(key: entry.id.key, at: 1)
      append(entry.edit.stamp, at: .physical)
      self[.schemaVersion].append(entry.edit.content.storedSchemaVersion)
      self[.payload].append(entry.edit.content.payload?.bytes)
      let base = entry.base.stored
      self[.base].append(base.word)
      append(base.version, tag: base.tag, at: .baseEpoch)
      self[.baseSchemaVersion].append(base.schemaVersion)
      self[.basePayload].append(entry.base.record?.payload.bytes)
      let sent = entry.sentApart
      self[.sent].append(sent != nil ? "other" : entry.sent == nil ? "nothing" : "edit")
      append(sent?.stamp, at: .sentPhysical)
      self[.sentSchemaVersion].append(sent?.content.storedSchemaVersion)
      self[.sentPayload].append(sent?.content.payload?.bytes)
      let state = entry.state.stored
      self[.state].append(state.word)
      self[.stateAt].append(state.time)
      self[.refusal].append(state.refusal)
      self[.attempts].append(Int64(entry.attempts))
      let rebuilt: OutboxEntry.Rebuilt? =
        if case .rebuild(let rebuilt) = entry.author { rebuilt } else { nil }
      self[.rebuiltPass].append(rebuilt?.pass)
      append(rebuilt?.lastWrite, at: .rebuiltPhysical)
      self[.rebuiltWinner].append(rebuilt?.winner?.key)
      self[.leaves].append(
        entry.leaves.isEmpty ? nil : try encoded(entry.leaves, what: "records that an edit leaves"))
    }
  }
#endif
