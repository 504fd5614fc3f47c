#if SQLite
  import SyncModels
  import SyncPorts

  /// A table of a damaged store that a salvage reads, and what its rows become.
  struct SalvageTable: Sendable {
    let part: SalvageLoss.Part
    var type: RecordType?
    let name: String
    /// The column of the row number.
    let number: String
    let columns: [String]
    /// Tells whether a row is not as it was written, as an expression.
    var isAltered = "0"
    /// An index that lists the rows as well; `nil` for what a sync fetches.
    var index: Index?
    /// The sum of the rows; `nil` if each has a checksum, or is fetched.
    var sum: SummedTable?
    let read: @Sendable (Statement) throws(SyncError) -> SalvagedEntry?

    /// An index, and what it tells of a row that the table has not.
    struct Index {
      let name: String
      var type = "NULL"
      var key = "NULL"
    }

    /// Some entries of the table.
    struct Portion {
      var entries: [SalvagedEntry] = []
      /// Those of them that are not as they were written.
      var altered: [SalvagedEntry] = []
      /// The numbers of rows that exist and cannot be read.
      var unreadable: [Int64] = []
      /// The rows that only the index has.
      var missing: [SalvageLoss] = []
      /// What else was lost.
      var losses: [SalvageLoss] = []
      /// The number of the last row; `nil` at the end.
      var reached: Int64?
    }

    /// What a walk has read so far.
    struct Seen {
      fileprivate var entries: Set<UInt64> = []
      /// The numbers of rows that exist and cannot be read.
      fileprivate var unreadable: Set<Int64> = []
      /// The rows still to be read that only the index lists; `nil` during the walk.
      ///
      /// The next one is the last.
      fileprivate var listed: [Listed]?
    }

    /// An entry, and whether it is not as it was written.
    private typealias Row = (entry: SalvagedEntry, isAltered: Bool)

    /// Reads the rows behind a number.
    ///
    /// At the end, it reads those that only the index lists, in further portions: a damaged page
    /// may hide rows from a walk without an error, or give one the number of another.
    ///
    /// - Parameter seen: What the walk has read.
    func portion(
      _ connection: Connection, after start: Int64?, limit: Int, seen: inout Seen
    ) throws(SyncError) -> Portion {
      if start == nil { seen = Seen() }
      guard try connection.hasTable(name) else {
        return Portion(losses: [loss("the table \(name) is missing")])
      }
      let scan = RowScan(
        connection, table: quoted(name), number: number,
        columns: (columns + [isAltered]).joined(separator: ", "))
      let flag = Int32(columns.count)
      let read: (Statement) throws(SyncError) -> Row? = { row throws(SyncError) in
        guard let entry = try self.read(row) else { return nil }
        return (entry, row.integer(flag) != 0)
      }
      var found = RowScan.Found<Row>()
      var portion = Portion()
      if seen.listed == nil {
        found = try scan.rows(after: start, limit: limit, read: read)
        if let index {
          for row in found.rows { seen.entries.insert(row.entry.identity) }
          seen.unreadable.formUnion(found.unreadable)
          if found.reached == nil { seen.listed = try unread(connection, index, seen).reversed() }
        }
      }
      for _ in 0..<limit {
        guard let listed = seen.listed?.popLast() else { break }
        if try !lookUp(listed, scan, &found, read) { portion.missing.append(listed.loss) }
      }
      // No row of the library has this number.
      if seen.listed?.isEmpty == false { found.reached = .max }
      portion.reached = found.reached
      portion.entries = found.rows.map(\.entry)
      portion.unreadable = found.unreadable
      portion.losses = found.gaps.map { gap in
        loss("rows cannot be read, between the numbers \(gap.lowerBound) and \(gap.upperBound)")
      }
      portion.altered = found.rows.filter(\.isAltered).map(\.entry)
      if found.reached == nil, try hasAlteredRows(connection) {
        portion.losses.append(loss("not all are as the library has written them; they are kept as they read"))
      }
      return portion
    }

    /// Reads a row that the index lists, and returns whether it is there.
    private func lookUp(
      _ listed: Listed, _ scan: RowScan, _ found: inout RowScan.Found<Row>,
      _ read: (Statement) throws(SyncError) -> Row?
    ) throws(SyncError) -> Bool {
      var own = RowScan.Found<Row>()
      guard try scan.lookUp(listed.number, &own, read) else { return false }
      // The row of another entry may have this number.
      guard own.rows.allSatisfy({ $0.entry.identity == listed.identity }) else { return false }
      found.rows += own.rows
      found.unreadable += own.unreadable
      return true
    }

    /// A loss of rows of the table.
    func loss(_ detail: String) -> SalvageLoss { SalvageLoss(part, type: type, detail) }

    /// Whether the rows differ from their sum. A sum that cannot be counted lacks rows that are
    /// listed as lost.
    private func hasAlteredRows(_ connection: Connection) throws(SyncError) -> Bool {
      guard let sum else { return false }
      do throws(SyncError) {
        return try connection.transaction(.read) { () throws(SyncError) -> Bool in
          guard let stored = try connection.storedSums() else { return false }
          return try connection.countedSum(of: sum) != stored[sum]
        }
      } catch {
        guard error.isOfDamagedStore else { throw error }
        return false
      }
    }

    /// A row that the index lists.
    fileprivate struct Listed {
      let number: Int64
      let identity: UInt64
      let loss: SalvageLoss
    }

    /// The rows that the index lists and the walk has not read.
    ///
    /// Those behind a damaged place of the index are not known.
    private func unread(
      _ connection: Connection, _ index: Index, _ seen: Seen
    ) throws(SyncError) -> [Listed] {
      var unread: [Listed] = []
      do throws(SyncError) {
        try connection.transaction(.read) { () throws(SyncError) in
          let columns = "\(number), \(index.type), \(index.key)"
          try connection.forEachRow("SELECT \(columns) FROM \(name) INDEXED BY \"\(index.name)\"") { row in
            let (number, type, key) = (row.integer(0), row.value(1).text, row.value(2).text)
            let identity = key.map { SalvagedEntry.identity(type, $0) } ?? UInt64(bitPattern: number)
            if seen.entries.contains(identity) || seen.unreadable.contains(number) { return }
            unread.append(
              Listed(
                number: number, identity: identity,
                loss: SalvageLoss(
                  part, type: type.map { RecordType($0) }, key: key ?? "\(number)",
                  "it is listed, and missing")))
          }
        }
      } catch {
        guard error.isOfDamagedStore else { throw error }
      }
      return unread
    }
  }

  extension SalvagedEntry {
    /// A number that tells an entry from the others of its part.
    fileprivate var identity: UInt64 {
      switch self {
      case .declaration(let entity): Self.identity(entity.type.rawValue, "")
      case .edit(let edit): Self.identity(edit.id.type.rawValue, edit.id.key)
      case .conflict(let conflict): UInt64(bitPattern: conflict.number)
      case .value(let key, _): Self.identity(nil, key)
      case .record(let record): Self.identity(record.id.type.rawValue, record.id.key)
      }
    }

    fileprivate static func identity(_ type: String?, _ key: String) -> UInt64 {
      RowDigest.digest(of: (type ?? "") + "\0" + key)
    }
  }

  extension SalvageTable {
    static let conflicts = SalvageTable(
      part: .conflicts, name: "conflicts", number: "number", columns: ["number"] + ConflictRows.names,
      index: Index(name: "conflicts.type", type: "type"), sum: .conflicts
    ) { row throws(SyncError) in .conflict(try row.conflict()) }

    static let values = SalvageTable(
      part: .values, name: "state", number: "rowid", columns: ["key", "value"],
      index: Index(name: "sqlite_autoindex_state_1", key: "key"), sum: .values
    ) { row throws(SyncError) in
      if row.isNull(1) { row.noteDamage("a kept value without bytes") }
      return .value(key: row.text(0), bytes: row.bytes(1))
    }

    static func records(of entity: Entity) -> SalvageTable {
      SalvageTable(
        part: .records, type: entity.type, name: EntityTable.name(of: entity.type), number: "row",
        columns: ["id", "schema_version", "payload"]
      ) { row throws(SyncError) in
        if row.isNull(2) { return nil }
        return .record(
          Record(
            id: RecordID(type: entity.type, key: row.text(0)), version: .unversioned,
            schemaVersion: Int(row.integer(1)), payload: Payload(row.bytes(2)), fields: []))
      }
    }

    /// The outbox. In a store from before the checksums, no edit has one.
    static func edits(_ connection: Connection) throws(SyncError) -> SalvageTable {
      let hasChecksums = try connection.transaction(.read) { () throws(SyncError) in
        try connection.value(
          "SELECT 1 FROM pragma_table_info('outbox') WHERE name = '\(RowChecksum.column)'") != nil
      }
      let column = RowChecksum.column
      return SalvageTable(
        part: .outbox, name: "outbox", number: "entry", columns: OutboxRows.names,
        isAltered: hasChecksums ? "\(column) IS NOT NULL AND \(column) IS NOT \(OutboxRows.checksum)" : "0",
        index: Index(name: "outbox.record", type: "type", key: "id")
      ) { row throws(SyncError) in .edit(try row.outboxEntry(of: RecordType(row.text(0)))) }
    }
  }
#endif
