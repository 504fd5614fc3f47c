#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  extension PostgresSnapshot {
    func states(of ids: [RecordID], comparing payloads: [Payload]) throws(SyncError) -> [StoredState?] {
      var states = [StoredState?](repeating: nil, count: ids.count)
      var numbers = [Int64](repeating: 0, count: ids.count)
      for (type, places) in ids.placesByType() {
        guard let table = catalog.tables[type] else { continue }
        var (rows, keys) = try stateRows(of: ids, at: places, comparing: payloads, in: table)
        let noted = try marks(of: type, at: rows.map { $0.integer(2) })
        for row in rows {
          let number = row.integer(2)
          for place in keys.places(of: row) {
            numbers[place] = number
            states[place] = StoredState(
              version: row.version(3), isDeleted: row.bool(6),
              hasSamePayload: !payloads.isEmpty && row.holds(payloads[place], digest: table.digest),
              isMarked: row.bool(7) || noted.isMarked(number) ?? false)
          }
        }
      }
      note(numbers, of: ids)
      return states
    }

    /// Reads the rows of some records, which may be under way already.
    private func stateRows(
      of ids: [RecordID], at places: [Int], comparing payloads: [Payload], in table: EntityTable
    ) throws(SyncError) -> (ResultRows, SortedKeys) {
      let operation = "reading \(table.entity.type)"
      let ahead = readsAhead.take(ids, comparing: payloads)
      if let ahead, let number = ahead.number {
        return (try connection.result(of: number, during: operation), ahead.read.keys)
      }
      let read = ahead?.read ?? StateRead(of: ids, at: places, comparing: payloads, in: table)
      return (try connection.query(read.statement, during: operation), read.keys)
    }

    /// Reads unknown marks of some rows, and sends the announced reads after that.
    private func marks(of type: RecordType, at rows: [Int64]) throws(SyncError) -> MarkBitmap {
      let missing = marks[type].missingChunks(of: rows)
      let reads = readsAhead.unsent
      if missing.isEmpty, reads.isEmpty { return marks[type] }
      let operation = "reading \(type)"
      let chunks = missing.isEmpty ? [] : [MarkBitmaps.chunks(missing, of: type)]
      let numbers = try connection.send(chunks + reads.map(\.statement), during: operation)
      if !reads.isEmpty { readsAhead.noteSent(numbers.suffix(reads.count)) }
      if missing.isEmpty { return marks[type] }
      let found = try connection.result(of: numbers[0], during: operation)
      let bits = Dictionary(
        found.map { ($0.integer(0), $0.bytes(1)) }, uniquingKeysWith: { first, _ in first })
      for number in missing { marks[type].add(bits[number], as: number) }
      return marks[type]
    }

    func rows(
      _ type: RecordType, _ selection: RowSelection, after key: String?, limit: Int
    ) throws(SyncError) -> [StoredRow] {
      guard let table = catalog.tables[type], limit > 0 else { return [] }
      writeMarks()
      let isMarked = selection == .all ? "\(table.isWritten) OR \(table.isNoted)" : "false"
      let unmarked =
        selection == .all
        ? "" : "AND r.payload IS NOT NULL AND NOT (\(table.isWritten) OR \(table.isNotedInScan))"
      let sql = """
        SELECT \(table.recordColumns), \(isMarked) FROM \(table.name) AS r \
        WHERE (r.id, r.rest) > ($1::bytea, $2::bytea) \(unmarked) ORDER BY r.id, r.rest LIMIT $3::bigint
        """
      let rows = try query(sql, during: "reading \(type)") {
        $0.add(StoredKey(key ?? ""))
        $0.add(Int64(limit))
      }
      return rows.map { row in
        StoredRow(
          id: RecordID(type: type, key: row.key(0)), version: row.version(2), entityTag: row.optionalText(5),
          record: row.isNull(EntityTable.payloadColumn) ? nil : row.record(of: table),
          isMarked: row.bool(table.recordColumnCount))
      }
    }
  }

  extension ResultRow {
    /// Whether the row of a state has a payload.
    fileprivate func holds(_ payload: Payload, digest: PayloadDigest) -> Bool {
      guard let known = optionalInteger(8) else { return holds(payload.bytes, in: 9) }
      return known == digest.of(payload.bytes)
    }
  }
#endif
