#if SQLite
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  /// Queries over a column of natural keys.
  enum NaturalKeyRows {
    /// The live records with one of ``EntityTable/lookupsAtOnce`` values in a column.
    ///
    /// They come in no particular order. Each row has the columns of ``Statement/record(of:)``,
    /// then the row number, the index of the value among those given, and the key.
    static func records(in table: EntityTable, whose column: String, keys: String) -> String {
      let values = (0..<EntityTable.lookupsAtOnce).map { "(?, \($0))" }.joined(separator: ", ")
      return """
        SELECT \(table.recordColumns), row, column2, \(keys) \
        FROM (VALUES \(values)) CROSS JOIN \(table.name) ON \(column) = column1 WHERE payload IS NOT NULL
        """
    }

    /// The rows of the live records with a given key.
    static func live(in table: EntityTable, by column: String) -> String {
      "SELECT row FROM \(table.name) WHERE \(column) = ? AND payload IS NOT NULL"
    }

    /// The keys after a given one, with the row of each.
    ///
    /// Equal keys are adjacent in the index, and no other data is read. Records with a pending
    /// deletion are included.
    static func keys(in table: EntityTable, by column: String) -> String {
      "SELECT \(column), row FROM \(table.name) WHERE \(column) > ? ORDER BY \(column)"
    }
  }

  extension SQLiteSnapshot {
    func records(
      ofType type: RecordType, withNaturalKeys keys: [String], at places: [[Int64]]
    ) throws(SyncError) -> [[Record]] {
      guard let table = catalog.tables[type], !keys.isEmpty else { return keys.map { _ in [] } }
      if let column = table.derived.naturalKeyColumn {
        if !places.isEmpty { return try records(in: table, with: keys, in: column, at: places) }
        return try lists(
          keys.count, in: table, by: NaturalKeyRows.records(in: table, whose: column, keys: column),
          for: keys.count
        ) { (statement, place, index) throws(SyncError) in
          try statement.bind(keys[place], at: index)
        } list: { _, place in
          place
        }
      }
      let found = try recordsByNaturalKey(in: table)
      return keys.map { found[UTF8Key($0)]?.records ?? [] }
    }

    private func records(
      in table: EntityTable, with keys: [String], in column: String, at places: [[Int64]]
    ) throws(SyncError) -> [[Record]] {
      var members: [(group: Int, row: Int64)] = []
      members.reserveCapacity(2 * keys.count)
      for (group, rows) in places.enumerated() {
        for row in rows { members.append((group, row)) }
      }
      return try lists(
        keys.count, in: table, by: NaturalKeyRows.records(in: table, whose: "row", keys: column),
        for: members.count
      ) { (statement, place, index) throws(SyncError) in
        try statement.bind(members[place].row, at: index)
      } list: { statement, place in
        let group = members[place].group
        return statement.order(table.columnBehindRecord + 2, against: keys[group]) == 0 ? group : nil
      }
    }

    func duplicates(
      _ type: RecordType, after key: String?, limit: Int
    ) throws(SyncError) -> [DuplicateGroup] {
      guard let table = catalog.tables[type], limit > 0 else { return [] }
      if let column = table.derived.naturalKeyColumn {
        return try duplicates(in: table, by: column, after: key, limit: limit)
      }
      let groups = try recordsByNaturalKey(in: table).filter { group in
        group.value.records.count > 1 && (key.map { $0.precedesByUTF8(group.key.string) } ?? true)
      }
      return groups.sorted { $0.key.string.precedesByUTF8($1.key.string) }.prefix(limit).compactMap {
        DuplicateGroup(key: $0.key.string, places: $0.value.rows)
      }
    }

    /// Looks up many values, some at a time, and lists the records found.
    ///
    /// - Parameter sql: ``NaturalKeyRows/records(in:whose:keys:)``.
    /// - Parameter bind: Binds the value at an index to a parameter.
    /// - Parameter list: The list for a record found by the value at an index, or `nil` to skip it.
    private func lists(
      _ count: Int, in table: EntityTable, by sql: String, for values: Int,
      bind: (Statement, Int, Int32) throws(SyncError) -> Void, list: (Statement, Int) -> Int?
    ) throws(SyncError) -> [[Record]] {
      let statement = try connection.statement(sql)
      var lists = [[Record]](repeating: [], count: count)
      var trail = RowTrail(capacity: 2 * count)
      for start in stride(from: 0, to: values, by: EntityTable.lookupsAtOnce) {
        // A parameter without a value matches nothing.
        defer { statement.clear() }
        for place in start..<min(start + EntityTable.lookupsAtOnce, values) {
          try bind(statement, place, Int32(place - start + 1))
        }
        while try statement.step() {
          let place = start + Int(statement.integer(table.columnBehindRecord + 1))
          guard let list = list(statement, place) else { continue }
          let record = statement.record(of: table)
          trail.append(record.id, in: statement.integer(table.columnBehindRecord))
          // Most lists get one more record.
          if lists[list].isEmpty { lists[list].reserveCapacity(2) }
          lists[list].append(record)
        }
      }
      // Later records mostly have greater keys, so most lists are sorted already.
      for place in lists.indices where !lists[place].areInOrder { lists[place].sort { $0.id < $1.id } }
      cache.hasFound(trail)
      return lists
    }

    private func duplicates(
      in table: EntityTable, by column: String, after key: String?, limit: Int
    ) throws(SyncError) -> [DuplicateGroup] {
      // Only pending edits leave keys of deleted records.
      let mayHaveDeleted = try outboxCount(table.entity.type) > 0
      var start = key
      while true {
        let found = try rowsThatShareKeys(in: table, by: column, after: start, limit: limit)
        let groups = mayHaveDeleted ? try live(found, in: table, by: column) : found
        guard groups.isEmpty, found.count == limit, let end = found.last?.key else { return groups }
        // A damaged index may repeat keys.
        if let start, !start.precedesByUTF8(end) {
          connection.noteDamage("natural keys that are out of order")
        }
        try connection.demandHealth()
        start = end
      }
    }

    /// The groups without their deleted records; a group needs two live records.
    private func live(
      _ groups: [DuplicateGroup], in table: EntityTable, by column: String
    ) throws(SyncError) -> [DuplicateGroup] {
      let statement = try connection.statement(NaturalKeyRows.live(in: table, by: column))
      var live: [DuplicateGroup] = []
      for group in groups {
        defer { statement.reset() }
        try statement.bind(group.key, at: 1)
        var rows: [Int64] = []
        while try statement.step() { rows.append(statement.integer(0)) }
        if rows.count > 1, let rest = DuplicateGroup(key: group.key, places: rows) { live.append(rest) }
      }
      return live
    }

    private func rowsThatShareKeys(
      in table: EntityTable, by column: String, after key: String?, limit: Int
    ) throws(SyncError) -> [DuplicateGroup] {
      let statement = try connection.statement(NaturalKeyRows.keys(in: table, by: column))
      defer { statement.reset() }
      // Natural keys are never empty, so all of them come after the empty string.
      try statement.bind(key ?? "", at: 1)
      var groups: [DuplicateGroup] = []
      // The previous row. Most keys are unique, and need no string.
      var (before, key): (Int64, [UInt8]) = (0, [])
      var isShared = false
      while try statement.step() {
        let (value, row) = (statement.value(0), statement.integer(1))
        if value.holds(key) {
          if !isShared { groups.append(DuplicateGroup(key: statement.text(0), place: before)) }
          isShared = true
          groups[groups.count - 1].add(row)
          continue
        }
        if groups.count == limit { return groups }
        (before, isShared) = (row, false)
        value.withBytes { bytes in
          key.removeAll(keepingCapacity: true)
          key.append(contentsOf: bytes)
        }
      }
      return groups
    }

    /// All natural keys with their records, read from payloads.
    ///
    /// This is the way as long as no column has the keys.
    private func recordsByNaturalKey(
      in table: EntityTable
    ) throws(SyncError) -> [UTF8Key: (records: [Record], rows: [Int64])] {
      guard table.entity.naturalKey != nil else { return [:] }
      let statement = try connection.statement(
        "SELECT \(table.recordColumns), row FROM \(table.name) WHERE payload IS NOT NULL ORDER BY id")
      defer { statement.reset() }
      var found: [UTF8Key: (records: [Record], rows: [Int64])] = [:]
      while try statement.step() {
        let record = statement.record(of: table)
        guard let key = table.entity.naturalKey(of: record) else { continue }
        let row = statement.integer(table.columnBehindRecord)
        guard let place = found.index(forKey: UTF8Key(key)) else {
          found[UTF8Key(key)] = ([record], [row])
          continue
        }
        found.values[place].records.append(record)
        found.values[place].rows.append(row)
      }
      return found
    }
  }
#endif
