#if SQLite
  import SyncModels
  import SyncPorts

  /// What is asked of a table whose column holds the natural keys.
  enum NaturalKeyRows {
    /// The records with a key, in no particular order, each with its row behind what ``Statement/record(of:)`` reads.
    static func records(in table: EntityTable, by column: String) -> String {
      "SELECT \(table.recordColumns), row FROM \(table.name) WHERE \(column) = ? AND payload IS NOT NULL"
    }

    /// How many live records have a key, and the first of their rows.
    static func extent(in table: EntityTable, by column: String) -> String {
      "SELECT count(*), min(row) FROM \(table.name) WHERE \(column) = ? AND payload IS NOT NULL"
    }

    /// The keys behind one, each with the row that has it. Equal ones lie side by side in the index, which alone answers this.
    ///
    /// Records whose deletion is pending are among them.
    static func keys(in table: EntityTable, by column: String) -> String {
      "SELECT \(column), row FROM \(table.name) WHERE \(column) > ? ORDER BY \(column)"
    }
  }

  extension SQLiteSnapshot {
    func records(ofType type: RecordType, withNaturalKeys keys: [String]) throws(SyncError) -> [[Record]] {
      guard let table = catalog.tables[type], !keys.isEmpty else { return keys.map { _ in [] } }
      if let column = table.naturalKeyColumn {
        return try records(in: table, whose: column, isAmong: keys)
      }
      let found = try recordsByNaturalKey(in: table)
      return keys.map { found[UTF8Key($0)]?.records ?? [] }
    }

    func duplicates(
      _ type: RecordType, after key: String?, limit: Int
    ) throws(SyncError) -> [DuplicateGroup] {
      guard let table = catalog.tables[type], limit > 0 else { return [] }
      if let column = table.naturalKeyColumn {
        return try duplicates(in: table, by: column, after: key, limit: limit)
      }
      let groups = try recordsByNaturalKey(in: table).filter { group in
        group.value.records.count > 1 && (key.map { $0.precedesByUTF8(group.key.string) } ?? true)
      }
      return groups.sorted { $0.key.string.precedesByUTF8($1.key.string) }.prefix(limit).map {
        DuplicateGroup(key: $0.key.string, count: $0.value.records.count, place: $0.value.firstRow)
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
        let start = rows.count
        while try statement.step() {
          records.append(statement.record(of: table))
          rows.append(statement.integer(table.columnBehindRecord))
        }
        // Mostly what came later has the greater key.
        if !records.areInOrder {
          let order = records.indices.sorted { records[$0].id < records[$1].id }
          rows.replaceSubrange(start..., with: order.map { rows[start + $0] })
          records = order.map { records[$0] }
        }
        lists.append(records)
      }
      hasFound(lists, in: rows)
      return lists
    }

    private func duplicates(
      in table: EntityTable, by column: String, after key: String?, limit: Int
    ) throws(SyncError) -> [DuplicateGroup] {
      // Only where edits are pending there may be keys of records that are deleted.
      let mayHaveDeleted = try outboxCount(table.entity.type) > 0
      var start = key
      while true {
        let found = try rowsThatShareKeys(in: table, by: column, after: start, limit: limit)
        let groups = mayHaveDeleted ? try live(found, in: table, by: column) : found
        guard groups.isEmpty, found.count == limit else { return groups }
        start = found.last?.key
      }
    }

    /// The groups without those of their records that are deleted; none of those that have no other live record left.
    private func live(
      _ groups: [DuplicateGroup], in table: EntityTable, by column: String
    ) throws(SyncError) -> [DuplicateGroup] {
      let statement = try connection.statement(NaturalKeyRows.extent(in: table, by: column))
      var live: [DuplicateGroup] = []
      for var group in groups {
        defer { statement.reset() }
        try statement.bind(group.key, at: 1)
        guard try statement.step(), statement.integer(0) > 1 else { continue }
        group.count = Int(statement.integer(0))
        group.place = statement.integer(1)
        live.append(group)
      }
      return live
    }

    private func rowsThatShareKeys(
      in table: EntityTable, by column: String, after key: String?, limit: Int
    ) throws(SyncError) -> [DuplicateGroup] {
      let statement = try connection.statement(NaturalKeyRows.keys(in: table, by: column))
      defer { statement.reset() }
      // Natural keys are never empty, so all of them come after the empty one.
      try statement.bind(key ?? "", at: 1)
      var groups: [DuplicateGroup] = []
      var group = DuplicateGroup(key: "", count: 0, place: 0)
      while try statement.step() {
        let row = statement.integer(1)
        if statement.order(0, against: group.key) == 0 {
          group.count += 1
          group.place = min(group.place, row)
          continue
        }
        if group.count > 1 { groups.append(group) }
        if groups.count == limit { return groups }
        group = DuplicateGroup(key: statement.text(0), count: 1, place: row)
      }
      if group.count > 1 { groups.append(group) }
      return groups
    }

    /// All natural keys with their records, while no column has them, taken out of the payloads one by one.
    private func recordsByNaturalKey(
      in table: EntityTable
    ) throws(SyncError) -> [UTF8Key: (records: [Record], firstRow: Int64)] {
      guard table.entity.naturalKey != nil else { return [:] }
      let statement = try connection.statement(
        "SELECT \(table.recordColumns), row FROM \(table.name) WHERE payload IS NOT NULL ORDER BY id")
      defer { statement.reset() }
      var found: [UTF8Key: (records: [Record], firstRow: Int64)] = [:]
      while try statement.step() {
        let record = statement.record(of: table)
        guard let key = table.entity.naturalKey(of: record) else { continue }
        let row = statement.integer(table.columnBehindRecord)
        guard let place = found.index(forKey: UTF8Key(key)) else {
          found[UTF8Key(key)] = ([record], row)
          continue
        }
        found.values[place].records.append(record)
        found.values[place].firstRow = min(found.values[place].firstRow, row)
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
