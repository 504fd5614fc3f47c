#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  extension PostgresSnapshot {
    func records(
      ofType type: RecordType, withNaturalKeys keys: [String], at places: [[Int64]]
    ) throws(SyncError) -> [[Record]] {
      guard let table = catalog.tables[type], !keys.isEmpty else { return keys.map { _ in [] } }
      guard let column = table.derived.naturalKeyColumn else {
        let found = try recordsByNaturalKey(in: table)
        return keys.map { found[Array($0.utf8)]?.records ?? [] }
      }
      let size = FieldCode.indexedSize
      let sql = """
        SELECT \(table.recordColumns), k.n FROM unnest($1::bytea[]) WITH ORDINALITY AS k(value, n) \
        JOIN \(table.name) AS r ON substr(r.\(column), 1, \(size)) = substr(k.value, 1, \(size)) \
        AND r.\(column) = k.value WHERE r.\(column) IS NOT NULL AND r.payload IS NOT NULL ORDER BY k.n, r.id, r.rest
        """
      let rows = try query(sql, during: "reading \(type)") { parameters in
        var values = ColumnArray(.bytes)
        for key in keys { values.append(key) }
        parameters.add(values)
      }
      var lists = [[Record]](repeating: [], count: keys.count)
      for row in rows {
        lists[Int(row.integer(table.recordColumnCount)) - 1].append(row.record(of: table))
      }
      return lists
    }

    func duplicates(_ type: RecordType, after key: String?, limit: Int) throws(SyncError) -> [DuplicateGroup]
    {
      guard let table = catalog.tables[type], limit > 0 else { return [] }
      guard let column = table.derived.naturalKeyColumn else {
        let after = key.map { Array($0.utf8) }
        let groups = try recordsByNaturalKey(in: table).filter { group in
          group.value.records.count > 1 && (after.map { $0.lexicographicallyPrecedes(group.key) } ?? true)
        }
        return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.prefix(limit).compactMap {
          DuplicateGroup(key: String(decoding: $0.key, as: UTF8.self), places: $0.value.places)
        }
      }
      let start = "substr(r.\(column), 1, \(FieldCode.indexedSize))"
      // Natural keys are never empty, so all of them come after the empty one.
      let sql = """
        SELECT r.\(column), string_agg(r.row::text, ' ' ORDER BY r.row) FROM \(table.name) AS r \
        WHERE r.\(column) IS NOT NULL AND r.payload IS NOT NULL \
        AND \(start) >= substr($1::bytea, 1, \(FieldCode.indexedSize)) AND r.\(column) > $1::bytea \
        GROUP BY \(start), r.\(column) HAVING count(*) > 1 ORDER BY \(start), r.\(column) LIMIT $2::bigint
        """
      let rows = try query(sql, during: "looking for duplicates of \(type)") { parameters in
        parameters.add(bytes: Array((key ?? "").utf8))
        parameters.add(Int64(limit))
      }
      return rows.compactMap { row in
        DuplicateGroup(key: row.text(0), places: row.text(1).split(separator: " ").compactMap { Int64($0) })
      }
    }

    /// All natural keys with their records, read from payloads, until a column has the keys.
    private func recordsByNaturalKey(
      in table: EntityTable
    ) throws(SyncError) -> [[UInt8]: (records: [Record], places: [Int64])] {
      var found: [[UInt8]: (records: [Record], places: [Int64])] = [:]
      guard table.entity.naturalKey != nil else { return found }
      let places = try query(
        "SELECT r.row FROM \(table.name) AS r WHERE r.payload IS NOT NULL ORDER BY r.id, r.rest",
        during: "reading \(table.entity.type)"
      ) { _ in }
      var place = 0
      try forEachRecord(of: table, after: nil) { record in
        defer { place += 1 }
        guard let key = table.entity.naturalKey(of: record), place < places.count else { return true }
        let bytes = Array(key.utf8)
        found[bytes, default: ([], [])].records.append(record)
        found[bytes, default: ([], [])].places.append(places[place].integer(0))
        return true
      }
      return found
    }
  }
#endif
