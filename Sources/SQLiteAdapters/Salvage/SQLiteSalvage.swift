#if SQLite
  public import SyncModels
  public import SyncPorts
  import Synchronization

  /// Reads a damaged SQLite store row by row, as far as it can be read.
  ///
  /// It skips rows and pages that SQLite cannot read. If SQLite refuses the whole file, because its
  /// header or its schema is damaged or the file is cut, or if it ignores transactions behind a
  /// damaged place in the log, it reads a copy in which these are repaired. The damaged store
  /// itself is never changed.
  public final class SQLiteSalvage: SalvageSource {
    private let opening: SalvageOpening
    private let connection: SerialConnection
    private static let portion = 400

    /// Describes the salvage of a store's file.
    ///
    /// - Parameters:
    ///   - path: The damaged file.
    ///   - scratch: The path of a copy, made if the file cannot be read as it is. An existing file
    ///     there is replaced, and ``close()`` removes it.
    ///   - executor: Runs the calls into SQLite.
    public init(path: String, scratch: String, executor: SQLiteExecutor = .dispatch) {
      let opening = SalvageOpening(path: path, scratch: scratch)
      self.opening = opening
      connection = SerialConnection(label: "CanonicalSync.salvage", executor: executor) {
        () throws(SyncError) in try opening.open()
      }
    }

    /// Closes the file, and removes the copy.
    public func close() async {
      await connection.close()
      opening.removeCopy()
    }

    /// Returns the next entries of a part.
    ///
    /// - Throws: `storeUnreadable` if nothing can be read: the file is missing or is no database,
    ///   or its schema is lost.
    public func portion(
      of part: SalvagePart, after place: SalvagePlace?
    ) async throws(SyncError) -> SalvagePortion {
      var start: Int64?
      if case .row(let number) = place { start = number }
      let (after, opening) = (start, opening)
      return try await connection.run { connection throws(SyncError) -> SalvagePortion in
        switch part {
        case .declarations:
          var portion = try connection.salvageDeclarations()
          portion.losses = opening.losses + portion.losses
          return portion
        case .outbox: return try Self.outbox(connection, after: after)
        case .conflicts:
          return try Self.scan(
            .conflicts, connection, table: "conflicts", number: "number",
            columns: "number, \(ConflictRows.columns)",
            after: after
          ) { statement throws(SyncError) in .conflict(try statement.conflict()) }
        case .values:
          return try Self.scan(
            .values, connection, table: "state", number: "rowid", columns: "key, value", after: after
          ) { statement throws(SyncError) in
            if statement.isNull(1) { statement.noteDamage("a kept value without bytes") }
            return .value(key: statement.text(0), bytes: statement.bytes(1))
          }
        case .records(let entity):
          return try Self.records(of: entity, connection, after: after)
        }
      }
    }

    private static func scan(
      _ part: SalvageLoss.Part, type: RecordType? = nil, _ connection: Connection, table: String,
      number: String, columns: String, after start: Int64?,
      read: (Statement) throws(SyncError) -> SalvagedEntry?
    ) throws(SyncError) -> SalvagePortion {
      guard try connection.hasTable(table) else {
        return SalvagePortion(losses: [SalvageLoss(part, type: type, "the table \(table) is missing")])
      }
      let scan = RowScan(connection, table: quoted(table), number: number, columns: columns)
      let found = try scan.rows(after: start, limit: portion, read: read)
      return SalvagePortion(
        found.rows, losses: found.losses(part, type), next: found.reached.map { .row($0) })
    }

    /// Reads edits strictly, and those with a damaged column as far as they make sense.
    private static func outbox(_ connection: Connection, after start: Int64?) throws(SyncError)
      -> SalvagePortion
    {
      guard try connection.hasTable("outbox") else {
        return SalvagePortion(losses: [SalvageLoss(.outbox, "the table outbox is missing")])
      }
      let scan = RowScan(connection, table: "outbox", number: "entry", columns: OutboxRows.columns)
      var found = try scan.rows(after: start, limit: portion) { statement throws(SyncError) -> OutboxEntry? in
        try statement.outboxEntry(of: RecordType(statement.text(0)))
      }
      var unreadable: [Int64] = []
      for number in found.unreadable {
        if let entry = try connection.damagedEdit(number) {
          found.rows.append(entry)
        } else {
          unreadable.append(number)
        }
      }
      found.unreadable = unreadable
      return SalvagePortion(
        found.rows.map { .edit($0) }, losses: found.losses(.outbox, nil),
        next: found.reached.map { .row($0) })
    }

    private static func records(
      of entity: Entity, _ connection: Connection, after start: Int64?
    ) throws(SyncError) -> SalvagePortion {
      try scan(
        .records, type: entity.type, connection, table: EntityTable.name(of: entity.type), number: "row",
        columns: "id, schema_version, payload", after: start
      ) { statement throws(SyncError) in
        if statement.isNull(2) { return nil }
        return .record(
          Record(
            id: RecordID(type: entity.type, key: statement.text(0)), version: .unversioned,
            schemaVersion: Int(statement.integer(1)), payload: Payload(statement.bytes(2)), fields: []))
      }
    }
  }

  extension RowScan.Found {
    fileprivate func losses(_ part: SalvageLoss.Part, _ type: RecordType?) -> [SalvageLoss] {
      unreadable.map { SalvageLoss(part, type: type, "row \($0) cannot be read") }
        + gaps.map { gap in
          SalvageLoss(
            part, type: type,
            "rows cannot be read, between the numbers \(gap.lowerBound) and \(gap.upperBound)")
        }
    }
  }

  extension Connection {
    fileprivate func hasTable(_ name: String) throws(SyncError) -> Bool {
      try transaction(.read) { () throws(SyncError) -> Bool in
        let statement = try statement("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
        defer { statement.reset() }
        try statement.bind(name, at: 1)
        return try statement.step()
      }
    }

    /// Reads the declarations one by one; types without one get a bare declaration.
    fileprivate func salvageDeclarations() throws(SyncError) -> SalvagePortion {
      var portion = SalvagePortion()
      var known: Set<RecordType> = []
      do throws(SyncError) {
        try transaction(.read) { () throws(SyncError) in
          try forEachRow("SELECT type, declaration FROM entities") { row throws(SyncError) in
            guard let name = row.value(0).text, let text = row.value(1).text,
              let entity = try? decoded(Entity.self, from: text, what: "declaration of a type"),
              entity.type == RecordType(name), known.insert(entity.type).inserted
            else { return }
            portion.entries.append(.declaration(entity))
          }
        }
      } catch {
        guard error.isOfDamagedFile else { throw error }
        portion.losses.append(SalvageLoss(.declarations, "the list of types cannot be read further"))
      }
      let types = try transaction(.read) { () throws(SyncError) in try typesWithTables() }
      for type in types where known.insert(type).inserted {
        portion.entries.append(.declaration(Entity(type)))
        portion.losses.append(
          SalvageLoss(
            .declarations, type: type, "the declaration cannot be read; the next sync brings it back"))
      }
      return portion
    }

    /// Reads an edit whose entry is damaged; `nil` without a record or its content.
    ///
    /// Columns are read in groups, because SQLite may reach only some of them. A group that makes
    /// no sense gets the values of a new edit.
    fileprivate func damagedEdit(_ number: Int64) throws(SyncError) -> OutboxEntry? {
      let edit = try group("type, id, schema_version, payload", of: number) { row in row.damagedContent(0) }
      guard let (id, content) = edit else { return nil }
      let stamp = try group("physical, counter, replica", of: number) { row in
        EditStamp(
          physical: Timestamp(microseconds: row.integer(0)), counter: UInt32(clamping: row.integer(1)),
          replica: row.value(2).text ?? "")
      }
      let columns =
        "base, base_epoch, base_sequence, base_modified_at, base_entity_tag, base_schema_version, base_payload"
      let base = try group(columns, of: number) { row in row.damagedBase(of: id) }
      return OutboxEntry(
        id: id, edit: Edit(content, stamp: stamp ?? EditStamp(physical: Timestamp(microseconds: 0))),
        base: base ?? .none)
    }

    /// Reads some columns of an outbox entry; `nil` if SQLite cannot reach them.
    private func group<Value>(
      _ columns: String, of number: Int64, _ read: (Statement) -> Value?
    ) throws(SyncError) -> Value? {
      do throws(SyncError) {
        return try transaction(.read) { () throws(SyncError) -> Value? in
          let statement = try statement("SELECT \(columns) FROM outbox WHERE entry = ?")
          defer { statement.reset() }
          try statement.bind(number, at: 1)
          return try statement.step() ? read(statement) : nil
        }
      } catch {
        guard error.isOfDamagedFile else { throw error }
        return nil
      }
    }
  }

  extension Statement {
    /// Reads a record and the content of its edit from four columns, without noting damage.
    fileprivate func damagedContent(_ column: Int32) -> (RecordID, Edit.Content)? {
      guard let type = value(column).text, !type.isEmpty, let key = value(column + 1).text, !key.isEmpty
      else { return nil }
      let id = RecordID(type: RecordType(type), key: key)
      if isNull(column + 3) { return isNull(column + 2) ? (id, .deletion) : nil }
      let schemaVersion = Int(max(1, min(integer(column + 2), Int64(Int32.max))))
      return (id, .upsert(Payload(bytes(column + 3)), schemaVersion: schemaVersion))
    }

    /// Reads a base from seven columns, without noting damage.
    fileprivate func damagedBase(of id: RecordID) -> OutboxEntry.Base {
      let version = Version(
        epoch: integer(1), sequence: integer(2), modifiedAt: Timestamp(microseconds: integer(3)))
      let tag = value(4).text
      if holds("copy", in: 0), !isNull(6) {
        return .copy(
          Record(
            id: id, version: version, entityTag: tag, schemaVersion: Int(max(1, min(integer(5), 1 << 31))),
            payload: Payload(bytes(6)), fields: []))
      }
      return holds("deleted", in: 0) ? .deleted(Tombstone(id: id, version: version, entityTag: tag)) : .none
    }
  }
#endif
