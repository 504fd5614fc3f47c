#if SQLite
  import SyncModels
  import SyncPorts

  /// What is asked of a table whose column holds the natural keys.
  enum NaturalKeyRows {
    /// The records with a key, each with its row behind what ``Statement/record(of:)`` reads.
    static func records(in table: EntityTable, by column: String) -> String {
      "SELECT \(table.recordColumns), row FROM \(table.name) WHERE \(column) = ? ORDER BY id"
    }

    /// Equal keys lie side by side in the index, which alone answers this.
    static func duplicates(in table: EntityTable, by column: String) -> String {
      """
      SELECT \(column), count(*) FROM \(table.name) WHERE \(column) > ? GROUP BY \(column) HAVING count(*) > 1 \
      ORDER BY \(column) LIMIT ?
      """
    }
  }

  extension SQLiteSnapshot {
    func records(ofType type: RecordType, withNaturalKeys keys: [String]) throws(SyncError) -> [[Record]] {
      guard let table = catalog.tables[type], !keys.isEmpty else { return keys.map { _ in [] } }
      if let column = table.naturalKeyColumn {
        return try records(in: table, whose: column, isAmong: keys)
      }
      let found = try recordsByNaturalKey(in: table)
      return keys.map { found[UTF8Key($0)] ?? [] }
    }

    func duplicates(
      _ type: RecordType, after key: String?, limit: Int
    ) throws(SyncError) -> [(key: String, count: Int)] {
      guard let table = catalog.tables[type], limit > 0 else { return [] }
      if let column = table.naturalKeyColumn {
        return try duplicates(in: table, by: column, after: key, limit: limit)
      }
      let groups = try recordsByNaturalKey(in: table).filter { group in
        group.value.count > 1 && (key.map { $0.precedesByUTF8(group.key.string) } ?? true)
      }
      return groups.sorted { $0.key.string.precedesByUTF8($1.key.string) }.prefix(limit).map {
        ($0.key.string, $0.value.count)
      }
    }

    private func records(
      in table: EntityTable, whose column: String, isAmong keys: [String]
    ) throws(SyncError) -> [[Record]] {
      let statement = try connection.statement(NaturalKeyRows.records(in: table, by: column))
      var lists: [[Record]] = []
      lists.reserveCapacity(keys.count)
      var rows: [Int64] = []
      for key in keys {
        defer { statement.reset() }
        try statement.bind(key, at: 1)
        var records: [Record] = []
        while try statement.step() {
          records.append(statement.record(of: table))
          rows.append(statement.integer(table.columnBehindRecord))
        }
        lists.append(records)
      }
      hasFound(lists, in: rows)
      return lists
    }

    private func duplicates(
      in table: EntityTable, by column: String, after key: String?, limit: Int
    ) throws(SyncError) -> [(key: String, count: Int)] {
      let statement = try connection.statement(NaturalKeyRows.duplicates(in: table, by: column))
      defer { statement.reset() }
      // Natural keys are never empty, so all of them come after the empty one.
      try statement.bind(key ?? "", at: 1)
      try statement.bind(Int64(limit), at: 2)
      var groups: [(key: String, count: Int)] = []
      while try statement.step() { groups.append((statement.text(0), Int(statement.integer(1)))) }
      return groups
    }

    /// All natural keys with their records, while no column has them, taken out of the payloads one by one.
    private func recordsByNaturalKey(in table: EntityTable) throws(SyncError) -> [UTF8Key: [Record]] {
      guard table.entity.naturalKey != nil else { return [:] }
      let statement = try connection.statement(
        "SELECT \(table.recordColumns) FROM \(table.name) WHERE payload IS NOT NULL ORDER BY id")
      defer { statement.reset() }
      var found: [UTF8Key: [Record]] = [:]
      while try statement.step() {
        let record = statement.record(of: table)
        if let key = table.entity.naturalKey(of: record) {
          found[UTF8Key(key), default: []].append(record)
        }
      }
      return found
    }
  }

  /// A string that is the same as another when its bytes are.
  private struct UTF8Key: Hashable {
    var string: String

    init(_ string: String) { self.string = string }

    static func == (a: UTF8Key, b: UTF8Key) -> Bool { a.string.isSameUTF8(as: b.string) }
  }
#endif
