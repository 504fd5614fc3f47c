#if SQLite
  import SyncModels
  import SyncPorts

  /// What is asked of a table whose column holds the natural keys: SQL that its index alone answers.
  enum NaturalKeyRows {
    static func records(in table: String, by column: String) -> String {
      "SELECT id FROM \(table) WHERE \(column) = ? ORDER BY id"
    }

    /// Equal keys lie side by side in the index.
    static func duplicates(in table: String, by column: String) -> String {
      """
      SELECT \(column), id FROM \(table) WHERE \(column) IN (SELECT \(column) FROM \(table) \
      WHERE \(column) > ? GROUP BY \(column) HAVING count(*) > 1 ORDER BY \(column) LIMIT ?) \
      ORDER BY \(column), id
      """
    }
  }

  extension SQLiteSnapshot {
    func records(ofType type: RecordType, withNaturalKeys keys: [String]) throws(SyncError) -> [[RecordID]] {
      guard let table = catalog.tables[type], !keys.isEmpty else { return keys.map { _ in [] } }
      if let column = table.naturalKeyColumn {
        return try records(in: table, whose: column, isAmong: keys)
      }
      let found = try recordsByNaturalKey(in: table)
      return keys.map { found[UTF8Key($0)] ?? [] }
    }

    func duplicates(
      _ type: RecordType, after key: String?, limit: Int
    ) throws(SyncError) -> [(key: String, records: [RecordID])] {
      guard let table = catalog.tables[type], limit > 0 else { return [] }
      if let column = table.naturalKeyColumn {
        return try duplicates(in: table, by: column, after: key, limit: limit)
      }
      let groups = try recordsByNaturalKey(in: table).filter { group in
        group.value.count > 1 && (key.map { $0.precedesByUTF8(group.key.string) } ?? true)
      }
      return groups.sorted { $0.key.string.precedesByUTF8($1.key.string) }.prefix(limit).map {
        ($0.key.string, $0.value)
      }
    }

    private func records(
      in table: EntityTable, whose column: String, isAmong keys: [String]
    ) throws(SyncError) -> [[RecordID]] {
      let statement = try connection.statement(NaturalKeyRows.records(in: table.name, by: column))
      var lists: [[RecordID]] = []
      lists.reserveCapacity(keys.count)
      for key in keys {
        defer { statement.reset() }
        try statement.bind(key, at: 1)
        var records: [RecordID] = []
        while try statement.step() {
          records.append(RecordID(type: table.entity.type, key: statement.text(0)))
        }
        lists.append(records)
      }
      return lists
    }

    private func duplicates(
      in table: EntityTable, by column: String, after key: String?, limit: Int
    ) throws(SyncError) -> [(key: String, records: [RecordID])] {
      let statement = try connection.statement(NaturalKeyRows.duplicates(in: table.name, by: column))
      defer { statement.reset() }
      // Natural keys are never empty, so all of them come after the empty one.
      try statement.bind(key ?? "", at: 1)
      try statement.bind(Int64(limit), at: 2)
      var groups: [(key: String, records: [RecordID])] = []
      while try statement.step() {
        let id = RecordID(type: table.entity.type, key: statement.text(1))
        if let last = groups.indices.last, statement.order(0, against: groups[last].key) == 0 {
          groups[last].records.append(id)
        } else {
          groups.append((statement.text(0), [id]))
        }
      }
      return groups
    }

    /// All natural keys with their records, while no column has them, taken out of the payloads one by one.
    private func recordsByNaturalKey(in table: EntityTable) throws(SyncError) -> [UTF8Key: [RecordID]] {
      guard table.entity.naturalKey != nil else { return [:] }
      let statement = try connection.statement(
        "SELECT \(table.recordColumns) FROM \(table.name) WHERE payload IS NOT NULL ORDER BY id")
      defer { statement.reset() }
      var found: [UTF8Key: [RecordID]] = [:]
      while try statement.step() {
        let record = statement.record(of: table)
        if let key = table.entity.naturalKey(of: record) {
          found[UTF8Key(key), default: []].append(record.id)
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
