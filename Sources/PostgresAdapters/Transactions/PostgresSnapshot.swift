#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  /// Reads within one transaction of a connection.
  class PostgresSnapshot: StoreSnapshot {
    final let connection: Connection
    final let catalog: Catalog
    /// The numbers of entries; `nil` if they are not known.
    private final var counts: [RecordType: [String: Int]]?
    /// Whether the transaction left the numbers of entries as they were.
    private(set) final var areCountsCurrent = true
    /// The marks that were read, and those that wait to be written.
    final var marks = MarkBitmaps()
    /// The reads of states that the server runs before they are asked for.
    final var readsAhead = ReadsAhead()

    init(on connection: Connection) {
      self.connection = connection
      catalog = connection.cache.catalog
    }

    /// The position of the last commit that changed what readers see.
    final var position: Int64 { connection.header(.position).position }

    /// The place where the store has moved.
    final var placeMovedTo: String? { connection.header(.movedTo).movedTo }

    func storeIdentity() -> String { connection.header([]).identity }

    func registeredEntities() -> [Entity] { catalog.stored }

    // MARK: Records

    /// Notes the numbers of rows that were looked up; 0 for records without a row.
    func note(_ numbers: [Int64], of ids: [RecordID]) {}

    /// Writes the marks that wait, before a statement that reads marks.
    func writeMarks() {}

    func records(withIDs ids: [RecordID]) throws(SyncError) -> [Record?] {
      var records = [Record?](repeating: nil, count: ids.count)
      let places = ids.placesByType()
      if places.count == 1, let table = catalog.tables[places[0].type],
        let rows = try connection.readAlone(
          .records, { table.alone(ids, writer: $0) }, during: "reading \(places[0].type)")
      {
        let start = StoreHeader.columnCount
        for row in rows where !row.isNull(start + EntityTable.payloadColumn) {
          let place = ids.count == 1 ? 0 : Int(row.integer(start + table.recordColumnCount)) - 1
          records[place] = row.record(of: table, from: start)
        }
        return records
      }
      for (type, places) in places {
        guard let table = catalog.tables[type] else { continue }
        let rows = try query(table.byID, during: "reading \(type)") { $0.add(keys: ids, at: places) }
        for row in rows {
          records[places[Int(row.integer(table.recordColumnCount)) - 1]] = row.record(of: table)
        }
      }
      return records
    }

    func referenced(among ids: [RecordID]) throws(SyncError) -> Set<RecordID> {
      var found: Set<RecordID> = []
      for table in catalog.tables.values {
        for reference in table.entity.references where reference.isOrdered {
          let places = ids.indices.filter { ids[$0].type == reference.target && !found.contains(ids[$0]) }
          if places.isEmpty { continue }
          found.formUnion(try referenced(among: ids, at: places, by: reference, in: table))
        }
      }
      return found
    }

    private func referenced(
      among ids: [RecordID], at places: [Int], by reference: Reference, in table: EntityTable
    ) throws(SyncError) -> [RecordID] {
      guard let column = table.column(of: reference.field) else {
        return try referencedByPayloads(among: ids, at: places, by: reference, in: table)
      }
      let isSelf = table.entity.type == reference.target ? "AND NOT (\(EntityTable.sameKey))" : ""
      let size = FieldCode.indexedSize
      let sql = """
        SELECT k.n FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) WITH ORDINALITY AS k(id, rest, value, n) \
        WHERE EXISTS (SELECT 1 FROM \(table.name) AS r WHERE substr(\(column), 1, \(size)) = substr(k.value, 1, \(size)) \
        AND \(column) = k.value AND r.payload IS NOT NULL \(isSelf))
        """
      let rows = try query(sql, during: "reading references") { parameters in
        parameters.add(keys: ids, at: places)
        var values = ColumnArray(.bytes)
        for place in places { values.append(FieldCode.bytes(of: .string(ids[place].key))?[...]) }
        parameters.add(values)
      }
      return rows.map { ids[places[Int($0.integer(0)) - 1]] }
    }

    /// As long as a new reference's column is being filled.
    private func referencedByPayloads(
      among ids: [RecordID], at places: [Int], by reference: Reference, in table: EntityTable
    ) throws(SyncError) -> [RecordID] {
      let wanted = Set(places.map { ids[$0] })
      var found: Set<RecordID> = []
      guard let index = table.entity.fields.firstIndex(of: reference.field) else { return [] }
      try forEachRecord(of: table, after: nil) { record in
        if case .string(let key)? = record.fields.element(at: index) {
          let id = RecordID(type: reference.target, key: key)
          if id != record.id, wanted.contains(id) { found.insert(id) }
        }
        return true
      }
      return Array(found)
    }

    // MARK: Counts

    final func counts(_ type: RecordType, rows: Bool) throws(SyncError) -> TypeCounts {
      let counts = try currentCounts()[type] ?? [:]
      var withheld: [WithheldChange.Kind: Int] = [:]
      for (kind, count) in counts {
        if let kind = WithheldChange.Kind(rawValue: kind) { withheld[kind] = count }
      }
      return TypeCounts(
        withheld: withheld, pending: counts[StoreHeader.pending] ?? 0, rows: rows ? try rowCounts(type) : nil)
    }

    private func rowCounts(_ type: RecordType) throws(SyncError) -> TypeCounts.Rows {
      guard let table = catalog.tables[type] else { return .init(live: 0, unmarked: 0) }
      let sql = """
        SELECT count(*), count(*) FILTER (WHERE NOT (\(table.isWritten) OR \(table.isNotedInScan))) \
        FROM \(table.name) AS r WHERE r.payload IS NOT NULL
        """
      writeMarks()
      let row = try query(sql, during: "counting \(type)") { _ in }.first
      return .init(live: Int(row?.integer(0) ?? 0), unmarked: Int(row?.integer(1) ?? 0))
    }

    private func currentCounts() throws(SyncError) -> [RecordType: [String: Int]] {
      if let counts { return counts }
      let current: [RecordType: [String: Int]]
      if areCountsCurrent {
        current = connection.header(.counts).counts
      } else {
        let sql = "SELECT string_agg(type || ' ' || kind || ' ' || entries, E'\\n') FROM counts"
        current = StoreHeader.counts(
          in: try query(sql, during: "counting entries") { _ in }.first?.text(0) ?? "")
      }
      counts = current
      return current
    }

    /// Notes that the transaction changes counts.
    final func forgetCounts() {
      counts = nil
      areCountsCurrent = false
    }

    /// Whether the store, or the transaction, may have entries of a kind.
    final func mayHave(_ isWanted: (String) -> Bool) -> Bool {
      guard areCountsCurrent else { return true }
      let counts = counts ?? connection.header(.counts).counts
      self.counts = counts
      return counts.values.contains { $0.keys.contains(where: isWanted) }
    }

    // MARK: Kept values

    func value(forKey key: String) throws(SyncError) -> [UInt8]? {
      let bytes = Array(key.utf8)
      if let known = connection.cache.kept[bytes] {
        connection.use(.keptValues)
        return known
      }
      let read = connection.cache.kept.read(of: bytes)
      let rows = try connection.query(read.statement, during: "reading a kept value")
      return connection.cache.kept.take(rows, of: read)
    }

    func keys(withPrefix prefix: String, after: String?, limit: Int) throws(SyncError) -> [String] {
      guard limit > 0 else { return [] }
      let isFirst = after.map { $0.precedesByUTF8(prefix) } ?? true
      let sql = """
        SELECT id, rest FROM kept WHERE (id, rest) \(isFirst ? ">=" : ">") ($1::bytea, $2::bytea) \
        ORDER BY id, rest LIMIT $3::bigint
        """
      let rows = try query(sql, during: "reading the keys of kept values") {
        $0.add(StoredKey(isFirst ? prefix : after ?? ""))
        $0.add(Int64(limit))
      }
      // All keys with the prefix are adjacent.
      return rows.map { $0.key(0) }.prefix { $0.utf8.starts(with: prefix.utf8) }.map(\.self)
    }

    // MARK: Observation

    func changes(after position: StorePosition?) throws(SyncError) -> CommittedChanges {
      var last = StorePosition(self.position)
      last.history = try connection.timeline()
      guard let position else { return CommittedChanges(.records([]), through: last) }
      if let history = position.history, history != last.history {
        return CommittedChanges(.everything, through: last)
      }
      if position.number == last.number { return CommittedChanges(.records([]), through: last) }
      guard position < last, last.number - position.number <= CommittedChanges.maximumWrites + 100 else {
        return CommittedChanges(.everything, through: last)
      }
      let sql =
        "SELECT position, keys IS NULL, types, keys FROM changes WHERE position > $1::bigint ORDER BY position"
      let rows = try query(sql, during: "reading the records that changed") { $0.add(position.number) }
      var next = position.number + 1
      var ids: Set<RecordID> = []
      for row in rows {
        // A missing position was trimmed. A position without records stands for many.
        guard row.integer(0) == next, !row.bool(1) else {
          return CommittedChanges(.everything, through: last)
        }
        next += 1
        for (type, key) in zip(row.array(2), row.array(3)) {
          ids.insert(
            RecordID(
              type: RecordType(String(decoding: type, as: UTF8.self)),
              key: String(decoding: key, as: UTF8.self)))
        }
      }
      guard next == last.number + 1 else { return CommittedChanges(.everything, through: last) }
      return CommittedChanges(.records(ids.sorted()), through: last)
    }

    // MARK: Statements

    /// Runs a statement that the server keeps for the next time.
    final func query(
      _ sql: String, during operation: @autoclosure () -> String, _ fill: (inout Parameters) -> Void
    ) throws(SyncError) -> ResultRows {
      try connection.query(Statement(sql, fill), during: operation())
    }

    /// Calls a body with each live record, by key, until it returns false.
    final func forEachRecord(
      of table: EntityTable, after key: String?, where clause: String? = nil,
      _ parameters: Parameters = Parameters(),
      _ body: (Record) throws(SyncError) -> Bool
    ) throws(SyncError) {
      let count = parameters.count
      let sql = """
        SELECT \(table.recordColumns) FROM \(table.name) AS r WHERE r.payload IS NOT NULL \
        AND (r.id, r.rest) > ($\(count + 1)::bytea, $\(count + 2)::bytea) \(clause.map { "AND \($0)" } ?? "") \
        ORDER BY r.id, r.rest LIMIT \(Self.portion)
        """
      var last = StoredKey(key ?? "")
      while true {
        var all = parameters
        all.add(last)
        let rows = try connection.query(
          Statement(sql, all, isKept: clause == nil), during: "reading \(table.entity.type)")
        for row in rows {
          guard try body(row.record(of: table)) else { return }
        }
        guard rows.count == Self.portion, let row = rows.last else { return }
        last = StoredKey((row.bytes(0) + row.bytes(1))[...])
      }
    }

    private static let portion = 1000
  }

  extension [RecordID] {
    /// The places of the ids of each type, in their order.
    func placesByType() -> [(type: RecordType, places: [Int])] {
      guard let first else { return [] }
      if allSatisfy({ $0.type == first.type }) { return [(first.type, Array<Int>(indices))] }
      var places: [RecordType: [Int]] = [:]
      for place in indices { places[self[place].type, default: []].append(place) }
      return places.map { ($0.key, $0.value) }
    }
  }

  extension Parameters {
    /// Adds the keys of some ids as two columns.
    mutating func add(keys ids: [RecordID], at places: [Int]) {
      var columns = [ColumnArray](.bytes, .bytes)
      for place in places { columns.append(key: ids[place].key, at: 0) }
      add(columns)
    }

    /// Adds types and keys of some ids as three columns.
    mutating func add(ids: some Sequence<RecordID>) {
      var columns = [ColumnArray](.text, .bytes, .bytes)
      for id in ids {
        columns[0].append(id.type.rawValue)
        columns.append(key: id.key, at: 1)
      }
      add(columns)
    }
  }
#endif
