#if SQLite
  import CanonicalSyncDatabases
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
    /// Selects the number, the type and the key of each row, from an index; `nil` for what a sync
    /// fetches.
    ///
    /// A damaged page may hide rows from a walk without an error, or give one the number of another.
    var index: String?
    let read: @Sendable (Statement) throws(SyncError) -> Row?
    /// Reads a row of which columns are damaged, as far as it makes sense.
    var readDamaged: (@Sendable (Connection, Int64) throws(SyncError) -> SalvagedEntry?)?

    /// An entry, and whether it differs from its checksum.
    struct Row {
      let entry: SalvagedEntry
      var isAltered = false
    }

    /// What a walk has read so far.
    struct Seen {
      fileprivate var rows: Set<String> = []
      /// Entries that are not as they were written, for the end: of two edits of one record the
      /// first counts.
      fileprivate var altered: [SalvagedEntry] = []
    }

    private static let limit = 400

    /// Reads the rows behind a number, and at the end those that only the index lists.
    func portion(
      _ connection: Connection, after start: Int64?, seen: inout Seen
    ) throws(SyncError) -> SalvagePortion {
      if start == nil { seen = Seen() }
      guard try connection.hasTable(name) else {
        return SalvagePortion(losses: [loss("the table \(name) is missing")])
      }
      let scan = RowScan(
        connection: connection, table: quoted(name), number: number,
        columns: columns.joined(separator: ", "))
      var portion = SalvagePortion()
      var found = try scan.rows(after: start, limit: Self.limit, read: read)
      portion.next = found.reached.map { .row($0) }
      portion.losses = found.gaps.map { gap in
        loss("rows cannot be read, between the numbers \(gap.lowerBound) and \(gap.upperBound)")
      }
      if index != nil { for row in found.rows { seen.rows.insert(row.entry.name) } }
      if found.reached == nil { portion.losses += try readListed(connection, scan, &found, seen) }
      for number in found.unreadable {
        if let entry = try readDamaged?(connection, number) {
          found.rows.append(Row(entry: entry, isAltered: true))
        } else {
          portion.losses.append(loss("row \(number) cannot be read"))
        }
      }
      for row in found.rows {
        if row.isAltered { seen.altered.append(row.entry) } else { portion.entries.append(row.entry) }
      }
      if found.reached == nil {
        for case .edit(let edit) in seen.altered {
          portion.losses.append(
            SalvageLoss(
              .outbox, type: edit.id.type, key: edit.id.key,
              "the edit is not as the library has written it; it is kept as it reads"))
        }
        portion.entries += seen.altered
      }
      return portion
    }

    /// Looks up the rows that the index lists and the walk has not read.
    ///
    /// Those behind a damaged place of the index are not known.
    ///
    /// - Returns: Those that are missing.
    private func readListed(
      _ connection: Connection, _ scan: RowScan, _ found: inout RowScan.Found<Row>, _ seen: Seen
    ) throws(SyncError) -> [SalvageLoss] {
      guard let index else { return [] }
      var listed: [(number: Int64, type: String?, key: String?)] = []
      _ = try scan.unlessDamaged { () throws(SyncError) in
        try connection.forEachRow(index) { row in
          let (number, type, key) = (row.integer(0), row.value(1).text, row.value(2).text)
          if seen.rows.contains(SalvagedEntry.name(type, key ?? "\(number)")) { return }
          listed.append((number, type, key))
        }
      }
      let unreadable = Set(found.unreadable)
      var missing: [SalvageLoss] = []
      for row in listed where !unreadable.contains(row.number) {
        var own = RowScan.Found<Row>()
        try scan.lookUp(row.number, &own, read)
        found.unreadable += own.unreadable
        let name = SalvagedEntry.name(row.type, row.key ?? "\(row.number)")
        // Damage may have given a row the name of another, under which the walk has read it.
        if let found = own.rows.first, found.entry.name != name { own.rows = [] }
        found.rows += own.rows
        if !own.rows.isEmpty || !own.unreadable.isEmpty { continue }
        missing.append(
          SalvageLoss(
            part, type: row.type.map { RecordType($0) }, key: row.key ?? "\(row.number)",
            "it is listed, and missing"))
      }
      return missing
    }

    private func loss(_ detail: String) -> SalvageLoss { SalvageLoss(part, type: type, detail) }
  }

  extension SalvagedEntry {
    /// A name that tells an entry from the others of its part, as an index has it.
    fileprivate var name: String {
      switch self {
      case .declaration(let entity): entity.type.rawValue
      case .edit(let edit): Self.name(edit.id.type.rawValue, edit.id.key)
      case .conflict(let conflict): Self.name(conflict.id.type.rawValue, "\(conflict.number)")
      case .value(let key, _): Self.name(nil, key)
      case .record(let record): Self.name(record.id.type.rawValue, record.id.key)
      }
    }

    fileprivate static func name(_ type: String?, _ key: String) -> String { "\(type ?? "")\0\(key)" }
  }

  extension SalvageTable {
    static let edits = SalvageTable(
      part: .outbox, name: "outbox", number: "entry", columns: OutboxRows.names + [EditChecksum.differs],
      index: "SELECT entry, type, id FROM outbox INDEXED BY \"outbox.record\"",
      read: { row throws(SyncError) in
        let entry = try row.outboxEntry(of: RecordType(row.text(0)))
        return Row(entry: .edit(entry), isAltered: row.integer(OutboxRows.names.count) != 0)
      },
      readDamaged: { connection, number throws(SyncError) in
        try connection.damagedEdit(number).map { .edit($0) }
      })

    static let conflicts = SalvageTable(
      part: .conflicts, name: "conflicts", number: "number", columns: ConflictRows.names + ["number"],
      index: "SELECT number, type, NULL FROM conflicts INDEXED BY \"conflicts.type\"",
      read: { row throws(SyncError) in Row(entry: .conflict(try TableRow(row).conflict())) })

    static let values = SalvageTable(
      part: .values, name: "state", number: "rowid", columns: ["key", "value"],
      index: "SELECT rowid, NULL, key FROM state INDEXED BY sqlite_autoindex_state_1",
      read: { row in
        if row.isNull(1) { row.noteDamage("a kept value without bytes") }
        return Row(entry: .value(key: row.text(0), bytes: row.bytes(1)))
      })

    static func records(of entity: Entity) -> SalvageTable {
      SalvageTable(
        part: .records, type: entity.type, name: EntityTable.name(of: entity.type), number: "row",
        columns: ["id", "schema_version", "payload"],
        read: { row in
          if row.isNull(2) { return nil }
          return Row(
            entry: .record(
              Record(
                id: RecordID(type: entity.type, key: row.text(0)), version: .unversioned,
                schemaVersion: Int(row.integer(1)), payload: Payload(row.bytes(2)), fields: [])))
        })
    }
  }

  extension Connection {
    func hasTable(_ name: String) throws(SyncError) -> Bool {
      try transaction(.read) { () throws(SyncError) -> Bool in
        try first("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(name)) { _ in true }
          ?? false
      }
    }
  }
#endif
