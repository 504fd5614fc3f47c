#if SQLite
  import SyncModels
  import SyncPorts

  /// What is asked of a table whose column holds the natural keys.
  enum NaturalKeyRows {
    /// The live records for which a column has one of as many values as ``EntityTable/lookupsAtOnce``, in no particular order; behind what
    /// ``Statement/record(of:)`` reads, each has its row, the place of its value among those given, and its key.
    static func records(in table: EntityTable, whose column: String, keys: String) -> String {
      let values = (0..<EntityTable.lookupsAtOnce).map { "(?, \($0))" }.joined(separator: ", ")
      return """
        SELECT \(table.recordColumns), row, column2, \(keys) \
        FROM (VALUES \(values)) CROSS JOIN \(table.name) ON \(column) = column1 WHERE payload IS NOT NULL
        """
    }

    /// The rows of the live records that have a key.
    static func live(in table: EntityTable, by column: String) -> String {
      "SELECT row FROM \(table.name) WHERE \(column) = ? AND payload IS NOT NULL"
    }

    /// The keys behind one, each with the row that has it. Equal ones lie side by side in the index, which alone answers this.
    ///
    /// Records whose deletion is pending are among them.
    static func keys(in table: EntityTable, by column: String) -> String {
      "SELECT \(column), row FROM \(table.name) WHERE \(column) > ? ORDER BY \(column)"
    }
  }

  extension SQLiteSnapshot {
    func records(
      ofType type: RecordType, withNaturalKeys keys: [String], at places: [[Int64]]
    ) throws(SyncError) -> [[Record]] {
      guard let table = catalog.tables[type], !keys.isEmpty else { return keys.map { _ in [] } }
      if let column = table.naturalKeyColumn {
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
      if let column = table.naturalKeyColumn {
        return try duplicates(in: table, by: column, after: key, limit: limit)
      }
      let groups = try recordsByNaturalKey(in: table).filter { group in
        group.value.records.count > 1 && (key.map { $0.precedesByUTF8(group.key.string) } ?? true)
      }
      return groups.sorted { $0.key.string.precedesByUTF8($1.key.string) }.prefix(limit).compactMap {
        DuplicateGroup(key: $0.key.string, places: $0.value.rows)
      }
    }

    /// Looks so many values up, some at a time, and lists the records that are found.
    ///
    /// - Parameter sql: ``NaturalKeyRows/records(in:whose:keys:)``.
    /// - Parameter bind: Binds the value at a place to a parameter.
    /// - Parameter list: The list for what was found with the value at a place, if it belongs to any.
    private func lists(
      _ count: Int, in table: EntityTable, by sql: String, for values: Int,
      bind: (Statement, Int, Int32) throws(SyncError) -> Void, list: (Statement, Int) -> Int?
    ) throws(SyncError) -> [[Record]] {
      let statement = try connection.statement(sql)
      var lists = [[Record]](repeating: [], count: count)
      var trail = RowTrail(capacity: 2 * count)
      for start in stride(from: 0, to: values, by: EntityTable.lookupsAtOnce) {
        // Parameters that are left without a value find nothing.
        defer { statement.clear() }
        for place in start..<min(start + EntityTable.lookupsAtOnce, values) {
          try bind(statement, place, Int32(place - start + 1))
        }
        while try statement.step() {
          let place = start + Int(statement.integer(table.columnBehindRecord + 1))
          guard let list = list(statement, place) else { continue }
          let record = statement.record(of: table)
          trail.append(record.id, in: statement.integer(table.columnBehindRecord))
          // Mostly there is one more.
          if lists[list].isEmpty { lists[list].reserveCapacity(2) }
          lists[list].append(record)
        }
      }
      // Mostly what came later has the greater key.
      for place in lists.indices where !lists[place].areInOrder { lists[place].sort { $0.id < $1.id } }
      hasFound(trail)
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
        guard groups.isEmpty, found.count == limit, let end = found.last?.key else { return groups }
        // In a damaged index keys may come again.
        if let start, !start.precedesByUTF8(end) {
          connection.noteDamage("natural keys in no order")
        }
        try connection.demandHealth()
        start = end
      }
    }

    /// The groups without those of their records that are deleted; none of those that have no other live record left.
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
      // Natural keys are never empty, so all of them come after the empty one.
      try statement.bind(key ?? "", at: 1)
      var groups: [DuplicateGroup] = []
      // Of the row before. Most keys are no other row's, and no string need be made of them.
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

    /// All natural keys with their records, while no column has them, taken out of the payloads one by one.
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

  /// A string that is the same as another when its bytes are.
  private struct UTF8Key: Hashable {
    var string: String

    init(_ string: String) { self.string = string }

    static func == (a: UTF8Key, b: UTF8Key) -> Bool { a.string.isSameUTF8(as: b.string) }
  }
#endif
