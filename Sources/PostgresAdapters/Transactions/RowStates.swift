#if Postgres
  import SyncModels
  import SyncPorts

  extension PostgresSnapshot {
    func states(of ids: [RecordID], comparing payloads: [Payload]) throws(SyncError) -> [StoredState?] {
      var states = [StoredState?](repeating: nil, count: ids.count)
      var numbers = [Int64](repeating: 0, count: ids.count)
      for (type, places) in ids.placesByType() {
        guard let table = catalog.tables[type] else { continue }
        var keys = SortedKeys(ids, at: places)
        let rows = try query(table.states, during: "reading \(type)") { parameters in
          parameters.add(keys: ids, at: keys.places)
          // Payloads whose size fits come along, and are compared here.
          let sizes = payloads.isEmpty ? [] : places.map { payloads[$0].bytes.count }
          parameters.add(Int64(sizes.min() ?? 0))
          parameters.add(Int64(sizes.max() ?? -1))
        }
        let noted = try marks(of: type, at: rows.map { $0.integer(2) })
        for place in 0..<rows.count {
          let row = rows[place]
          let number = row.integer(2)
          for place in keys.places(of: row) {
            numbers[place] = number
            states[place] = StoredState(
              version: row.version(3), isDeleted: row.bool(6),
              hasSamePayload: !payloads.isEmpty && row.holds(payloads[place].bytes, in: 8),
              isMarked: row.bool(7) || noted.isMarked(number))
          }
        }
      }
      note(numbers, of: ids)
      return states
    }

    /// Reads the marks of some rows, as far as they are not known.
    private func marks(of type: RecordType, at rows: [Int64]) throws(SyncError) -> MarkBook.Marks {
      let missing = marks[type].missingChunks(of: rows)
      if missing.isEmpty { return marks[type] }
      let chunks = try query(
        "SELECT chunk, bits FROM marks WHERE type = $1::text AND chunk = ANY ($2::bigint[])",
        during: "reading \(type)"
      ) {
        $0.add(text: type.rawValue)
        var column = ColumnArray(.int64)
        for number in missing { column.append(number) }
        $0.add(column)
      }
      marks[type].add(
        Dictionary(
          try chunks.map { ($0.integer(0), $0.bytes(1)) }, uniquingKeysWith: { first, _ in first }),
        of: missing)
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
      return try rows.map { row in
        StoredRow(
          id: RecordID(type: type, key: row.key(0)), version: row.version(2), entityTag: row.optionalText(5),
          record: row.isNull(RowTable.payloadColumn) ? nil : row.record(of: table),
          isMarked: row.bool(table.recordColumnCount))
      }
    }
  }

  /// Some keys in the order of their bytes, to find those of a result's rows.
  ///
  /// The rows mostly come in that order too, so each is found next to the one before.
  private struct SortedKeys {
    private let ids: [RecordID]
    let places: [Int]
    private var next = 0

    init(_ ids: [RecordID], at places: [Int]) {
      self.ids = ids
      let isSorted = zip(places, places.dropFirst()).allSatisfy {
        !ids[$1].key.precedesByUTF8(ids[$0].key)
      }
      self.places = isSorted ? places : places.sorted { ids[$0].key.precedesByUTF8(ids[$1].key) }
    }

    /// The places of the key that a row has in its first two columns.
    mutating func places(of row: ResultRow) -> ArraySlice<Int> {
      if next == places.count || order(next, row) != 0 { next = firstPlace(notBefore: row) }
      let start = next
      while next < places.count, order(next, row) == 0 { next += 1 }
      return places[start..<next]
    }

    private func order(_ index: Int, _ row: ResultRow) -> Int {
      row.order(of: ids[places[index]].key, relativeTo: 0)
    }

    private func firstPlace(notBefore row: ResultRow) -> Int {
      var range = places.indices
      while !range.isEmpty {
        let middle = range.lowerBound + range.count / 2
        range =
          order(middle, row) < 0 ? middle + 1..<range.upperBound : range.lowerBound..<middle
      }
      return range.lowerBound
    }
  }
#endif
