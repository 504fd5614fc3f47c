#if SQLite
  import SyncModels

  /// The sums of all ``SummedTable``s, or what a transaction adds to them.
  struct TableSums {
    // By the raw values of the tables. The rest is zero.
    private var numbers = SIMD8<UInt64>()
    private(set) var isZero = true

    /// The key in `meta` of the sums.
    static let key = "sums"
    /// The bytes of the sums, eight for each table, the lowest first.
    static let size = 64

    subscript(table: SummedTable) -> UInt64 { numbers[table.rawValue] }

    /// Adds the digest of a new row, or a difference.
    mutating func add(_ digest: UInt64, to table: SummedTable) {
      numbers[table.rawValue] &+= digest
      isZero = false
    }

    /// Subtracts the digest of a removed row.
    mutating func subtract(_ digest: UInt64, from table: SummedTable) {
      add(0 &- digest, to: table)
    }

    mutating func clear() { self = TableSums() }

    static func + (a: TableSums, b: TableSums) -> TableSums {
      var sum = a
      sum.numbers &+= b.numbers
      return sum
    }
  }

  extension TableSums {
    var bytes: [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(Self.size)
      for place in 0..<8 {
        for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: numbers[place] >> UInt64(8 * byte))) }
      }
      return bytes
    }

    /// Reads the sums; `nil` for another number of bytes.
    init?(bytes: [UInt8]) {
      guard bytes.count == Self.size else { return nil }
      for place in 0..<8 {
        for byte in 0..<8 { numbers[place] |= UInt64(bytes[8 * place + byte]) << UInt64(8 * byte) }
      }
    }
  }

  extension Connection {
    /// The sums in the file; `nil` if there are none, or no such value.
    func storedSums() throws(SyncError) -> TableSums? {
      let statement = try meta("sums")
      defer { statement.reset() }
      return try statement.step() ? TableSums(bytes: statement.bytes(0)) : nil
    }

    /// Adds what the transaction has changed to the sums in the file.
    ///
    /// Sums that are damaged stay so, and a verification names them.
    func writeSums() throws(SyncError) {
      if sums.isZero { return }
      guard let stored = try storedSums() else { return }
      let statement = try statement("UPDATE meta SET value = ? WHERE key = '\(TableSums.key)'")
      try statement.bind((stored + sums).bytes, at: 1)
      try statement.run()
    }

    /// The sums of the rows as they are.
    func countedSums(of tables: [SummedTable] = SummedTable.allCases) throws(SyncError) -> TableSums {
      var sums = TableSums()
      for table in tables { sums.add(try countedSum(of: table), to: table) }
      return sums
    }

    /// Runs a body that changes declarations, or names in `meta`, within a transaction.
    func changingDeclarations<R>(_ body: () throws(SyncError) -> R) throws(SyncError) -> R {
      let former = try countedSum(of: .declarations)
      let result = try body()
      sums.add(try countedSum(of: .declarations) &- former, to: .declarations)
      return result
    }

    /// The sum of a table's rows as they are.
    func countedSum(of table: SummedTable) throws(SyncError) -> UInt64 {
      guard table == .records else { return try total(table, table.select, nil) }
      var sum: UInt64 = 0
      for type in try typesWithTables() {
        sum &+= try total(
          table, table.select + quoted(EntityTable.name(of: type)), SummedTable.seed(ofRecords: type))
      }
      return sum
    }

    private func total(
      _ table: SummedTable, _ sql: String, _ seed: SummedTable.Seed?
    ) throws(SyncError) -> UInt64 {
      var sum: UInt64 = 0
      try forEachRow(sql) { row throws(SyncError) in sum &+= table.digest(of: row, from: seed) }
      return sum
    }

    /// The types that have a table, whether they are declared or not.
    func typesWithTables() throws(SyncError) -> [RecordType] {
      var types: [RecordType] = []
      try forEachRow("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'rows_*'") {
        row throws(SyncError) in
        if let name = row.value(0).text { types.append(RecordType(String(name.dropFirst(5)))) }
      }
      return types
    }

    /// Adds the digest of a row that was just added, and returns its number.
    ///
    /// It is `nil` after ``forgetLastRow()`` and a statement that changed a row.
    @discardableResult func noteNewRow(of id: String, in table: EntityTable) -> Int64? {
      let row = lastRow
      if row == 0 { return nil }
      sums.add(table.digest(of: RowDigest.digest(of: id), in: row), to: .records)
      return row
    }

    /// Adds the digest of a row that was written, as the file has it.
    func noteRow(_ number: Int64, in table: SummedTable) throws(SyncError) {
      let statement = try statement("\(table.select) WHERE \(table.number) = ?")
      try statement.bind(number, at: 1)
      defer { statement.reset() }
      if try statement.step() { sums.add(table.digest(of: statement), to: table) }
    }

    /// Subtracts the digests of the rows that a statement finds, before they are removed.
    func forgetRows(_ rows: Statement, in table: SummedTable) throws(SyncError) {
      defer { rows.reset() }
      while try rows.step() { sums.subtract(table.digest(of: rows), from: table) }
    }
  }
#endif
