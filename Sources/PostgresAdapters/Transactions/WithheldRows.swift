#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  extension WithheldColumn: TableColumn {
    static let key: [Part] = [("is_bytes", .boolean), ("id", .bytes), ("rest", .bytes)]

    var element: ColumnArray.Element {
      switch self {
      case .type, .kind, .change, .recordType: .text
      case .slot, .recordKey, .entityTag, .flaw, .location, .reason, .waitsFor, .payload: .bytes
      case .versionEpoch, .versionSequence, .versionModifiedAt, .schemaVersion, .pass, .fence, .since: .int64
      }
    }
  }

  /// The statements of withheld changes.
  private enum WithheldRows {
    static let tieElements: [ColumnArray.Element] = [
      .int32, .text, .boolean, .bytes, .bytes, .text, .bytes, .bytes,
    ]
    static let columns = WithheldColumn.names.map { "a.\($0)" }.joined(separator: ", ")
    static let order = "a.is_bytes, a.type, a.id, a.rest"
    static let sameKey = "a.type = k.type AND a.is_bytes = k.is_bytes AND a.id = k.id AND a.rest = k.rest"
    static let given =
      "unnest($1::text[], $2::boolean[], $3::bytea[], $4::bytea[]) AS k(type, is_bytes, id, rest)"

    static let remove = """
      WITH gone AS (DELETE FROM set_aside AS a USING \(given) WHERE \(sameKey) RETURNING a.type, a.kind) \
      INSERT INTO counts SELECT type, kind, -count(*) FROM gone GROUP BY type, kind \
      ON CONFLICT (type, kind) DO UPDATE SET entries = counts.entries + excluded.entries
      """

    static let insert = """
      WITH put AS (INSERT INTO set_aside (\(WithheldColumn.names.joined(separator: ", "))) \
      SELECT * FROM unnest(\(WithheldColumn.elements.placeholders())) \
      RETURNING entry, type, is_bytes, id, rest, kind), \
      counted AS (INSERT INTO counts SELECT type, kind, count(*) FROM put GROUP BY type, kind \
      ON CONFLICT (type, kind) DO UPDATE SET entries = counts.entries + excluded.entries) \
      INSERT INTO ties SELECT k.relation, k.target_type, k.target_id, k.target_rest, a.entry \
      FROM unnest(\(tieElements.placeholders(from: WithheldColumn.names.count + 1))) \
      AS k(relation, type, is_bytes, id, rest, target_type, target_id, target_rest) \
      JOIN put AS a ON \(sameKey)
      """
  }

  /// The numbers of relations in `ties`.
  extension WithheldChange.Relation {
    var number: Int32 {
      switch self {
      case .waitingFor: 1
      case .referringTo: 2
      }
    }
  }

  extension [ColumnArray] {
    /// Appends the key of an entry to four columns.
    fileprivate mutating func append(_ key: WithheldChange.Key, at place: Int) {
      self[place].append(key.type.rawValue)
      self[place + 1].append(key.isBytes)
      switch key {
      case .record(let id): append(key: id.key, at: place + 2)
      case .bytes(_, let digest):
        self[place + 2].append(Parameters.bytes(of: digest)[...])
        self[place + 3].append([])
      }
    }
  }

  // MARK: Reading

  extension PostgresSnapshot {
    private func mayHaveWithheld() -> Bool { mayHave { $0 != StoreHeader.pending } }

    func withheld(
      _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
    ) throws(SyncError) -> [WithheldChange] {
      guard limit > 0, !kinds.isEmpty, mayHaveWithheld() else { return [] }
      let sql = """
        SELECT \(WithheldRows.columns) FROM set_aside AS a WHERE a.type = $1::text AND a.kind = ANY ($2::text[]) \
        AND (a.is_bytes, a.id, a.rest) > ($3::boolean, $4::bytea, $5::bytea) \
        ORDER BY a.type, a.is_bytes, a.id, a.rest LIMIT $6::bigint
        """
      let rows = try query(sql, during: "reading withheld changes") { parameters in
        parameters.add(text: type.rawValue)
        parameters.add(kinds)
        parameters.add(slot: after)
        parameters.add(Int64(limit))
      }
      return try rows.map { (row) throws(SyncError) in try row.withheld(catalog) }
    }

    func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange] {
      guard !keys.isEmpty, mayHaveWithheld() else { return [] }
      let sql = """
        SELECT \(WithheldRows.columns) FROM \(WithheldRows.given) JOIN set_aside AS a ON \(WithheldRows.sameKey)
        """
      let rows = try query(sql, during: "reading withheld changes") { $0.add(keys: keys) }
      return try rows.map { (row) throws(SyncError) in try row.withheld(catalog) }
    }

    func withheld(
      _ relation: WithheldChange.Relation, _ ids: [RecordID], kinds: Set<WithheldChange.Kind>,
      after: WithheldChange.Key?, limit: Int
    ) throws(SyncError) -> [WithheldChange] {
      guard limit > 0, !kinds.isEmpty, !ids.isEmpty, mayHaveWithheld() else { return [] }
      let after = after.map { ($0.isBytes, $0.type.rawValue, $0) }
      let sql = """
        SELECT \(WithheldRows.columns) FROM set_aside AS a WHERE a.entry IN (SELECT t.entry \
        FROM unnest($1::text[], $2::bytea[], $3::bytea[]) AS k(type, id, rest) JOIN ties AS t \
        ON t.relation = $4::integer AND t.target_type = k.type AND t.target_id = k.id AND t.target_rest = k.rest) \
        AND a.kind = ANY ($5::text[]) AND ($9::text IS NULL \
        OR (a.is_bytes, a.type, a.id, a.rest) > ($6::boolean, $9::text COLLATE "C", $7::bytea, $8::bytea)) \
        ORDER BY \(WithheldRows.order) LIMIT $10::bigint
        """
      let rows = try query(sql, during: "reading withheld changes") { parameters in
        parameters.add(ids: ids)
        parameters.add(bytes: Parameters.bytes(of: relation.number))
        parameters.add(kinds)
        parameters.add(slot: after?.2)
        parameters.add(text: after?.1)
        parameters.add(Int64(limit))
      }
      return try rows.map { (row) throws(SyncError) in try row.withheld(catalog) }
    }
  }

  extension Parameters {
    fileprivate mutating func add(_ kinds: Set<WithheldChange.Kind>) {
      var column = ColumnArray(.text)
      for kind in kinds { column.append(kind.rawValue) }
      add(column)
    }

    fileprivate mutating func add(keys: [WithheldChange.Key]) {
      var columns = [ColumnArray](.text, .boolean, .bytes, .bytes)
      for key in keys { columns.append(key, at: 0) }
      add(columns)
    }

    /// Adds whether a key is a digest, and its two columns.
    fileprivate mutating func add(slot key: WithheldChange.Key?) {
      add(key?.isBytes ?? false)
      switch key {
      case .record(let id)?: add(StoredKey(id.key))
      case .bytes(_, let digest)?: add(StoredKey(Parameters.bytes(of: digest)[...]))
      case nil: add(StoredKey(""))
      }
    }
  }

  extension ResultRow {
    /// Reads the entry from a row of ``WithheldRows/columns``.
    fileprivate func withheld(_ catalog: Catalog) throws(SyncError) -> WithheldChange {
      let type = RecordType(text(0))
      let key: WithheldChange.Key =
        bool(1)
        ? .bytes(type, digest: bytes(2).reduce(0) { $0 << 8 | UInt64($1) })
        : .record(RecordID(type: type, key: key(2)))
      return try TableRow(KeyedRow<WithheldColumn>(self)).entry(under: key) { type, payload in
        catalog.tables[type]?.fields(of: payload) ?? []
      }
    }
  }

  // MARK: Writing

  extension PostgresTransaction {
    func removeWithheld(_ keys: [WithheldChange.Key]) {
      guard !keys.isEmpty, mayHave({ $0 != StoreHeader.pending }) else { return }
      forgetCounts()
      connection.enqueue(Statement(WithheldRows.remove) { $0.add(keys: keys) })
    }

    func insertWithheld(_ entries: [WithheldChange]) throws(SyncError) {
      removeWithheld(entries.map(\.key))
      forgetCounts()
      var columns = TableArrays<WithheldColumn>()
      var ties = WithheldRows.tieElements.map { ColumnArray($0) }
      for entry in entries {
        try columns.append(entry)
        if entry.kind == .parked { ties.tie(entry.key, .waitingFor, to: entry.waitsFor) }
        if let entity = catalog.tables[entry.key.type]?.entity {
          ties.tie(entry.key, .referringTo, to: entry.references(by: entity))
        }
      }
      connection.enqueue(
        Statement(WithheldRows.insert) { parameters in
          parameters.add(columns.arrays)
          parameters.add(ties)
        })
    }
  }

  extension WithheldChange {
    /// The references of the entry's copy. Those of staged copies are not needed.
    func references(by entity: Entity) -> [RecordID] {
      guard kind != .staged, !entity.references.isEmpty, case .upsert(let record) = change else { return [] }
      return entity.allReferences(of: record.withFields(of: entity))
    }
  }

  extension [ColumnArray] {
    /// Appends a row for each record that an entry depends on, each once.
    fileprivate mutating func tie(
      _ key: WithheldChange.Key, _ relation: WithheldChange.Relation, to targets: [RecordID]
    ) {
      for target in Set(targets) {
        self[0].append(relation.number)
        append(key, at: 1)
        self[5].append(target.type.rawValue)
        append(key: target.key, at: 6)
      }
    }
  }

  extension TableArrays<WithheldColumn> {
    fileprivate mutating func append(_ entry: WithheldChange) throws(SyncError) {
      let change = entry.change.stored
      arrays.append(entry.key, at: 0)
      self[.kind].append(entry.kind.rawValue)
      self[.change].append(change.word)
      self[.recordType].append(change.type.rawValue)
      self[.recordKey].append(change.key)
      append(change.version, tag: change.tag, at: .versionEpoch)
      self[.schemaVersion].append(change.schemaVersion)
      self[.flaw].append(change.flaw)
      self[.location].append(change.location)
      self[.payload].append(change.payload?.bytes)
      self[.reason].append(entry.reason)
      self[.waitsFor].append(try encoded(entry.waitsFor, what: "references of a withheld change"))
      self[.pass].append(entry.pass)
      self[.fence].append(entry.finder.stored)
      self[.since].append(entry.since.microseconds)
    }
  }

  // MARK: Changed declarations

  extension PostgresTransaction {
    /// Reads the references of some entries again, and returns the last one's number.
    func renewReferences(of entity: Entity, after number: Int64, limit: Int) throws(SyncError) -> Int64? {
      let sql = """
        SELECT \(WithheldRows.columns), a.entry FROM set_aside AS a \
        WHERE a.type = $1::text AND a.entry > $2::bigint ORDER BY a.entry LIMIT $3::bigint
        """
      let found = try query(sql, during: "reading withheld changes") {
        $0.add(text: entity.type.rawValue)
        $0.add(number)
        $0.add(Int64(limit))
      }
      var entries = ColumnArray(.int64)
      var ties = [ColumnArray](.int64, .text, .bytes, .bytes)
      let place = WithheldColumn.names.count
      for row in found {
        let number = row.integer(place)
        entries.append(number)
        for target in Set(try row.withheld(catalog).references(by: entity)) {
          ties[0].append(number)
          ties[1].append(target.type.rawValue)
          ties.append(key: target.key, at: 2)
        }
      }
      let relation = WithheldChange.Relation.referringTo.number
      connection.enqueue(
        Statement("DELETE FROM ties WHERE relation = \(relation) AND entry = ANY ($1::bigint[])") {
          $0.add(entries)
        })
      connection.enqueue(
        Statement(
          """
          INSERT INTO ties SELECT \(relation), k.type, k.id, k.rest, k.entry \
          FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::bytea[]) AS k(entry, type, id, rest)
          """
        ) { $0.add(ties) })
      return found.count < limit ? nil : found.last?.integer(place)
    }
  }
#endif
