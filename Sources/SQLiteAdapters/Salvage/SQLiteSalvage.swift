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
    let opening: SalvageOpening
    let connection: SerialConnection
    /// The store with another reading of a damaged log.
    let other: SerialConnection
    /// The records whose edits the first reading has.
    let taken = Mutex<Set<RecordID>>([])
    static let portion = 400

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
      other = SerialConnection(label: "CanonicalSync.salvage.other", executor: executor) {
        () throws(SyncError) in try opening.openOther()
      }
    }

    /// Closes the file, and removes the copy.
    public func close() async {
      await connection.close()
      await other.close()
      opening.removeCopy()
    }

    /// Returns the next entries of a part.
    ///
    /// - Throws: `storeUnreadable` if nothing can be read: the file is missing or is no database,
    ///   or its schema is lost.
    public func portion(
      of part: SalvagePart, after place: SalvagePlace?
    ) async throws(SyncError) -> SalvagePortion {
      if case .outbox = part { return try await outbox(after: place) }
      let opening = opening
      return try await connection.run { connection throws(SyncError) -> SalvagePortion in
        var portion = try Self.rows(of: part, connection, after: place?.number)
        // They are known after the opening, and the declarations come first.
        if case .declarations = part { portion.losses = opening.losses + portion.losses }
        return portion
      }
    }

    private static func rows(
      of part: SalvagePart, _ connection: Connection, after number: Int64?
    ) throws(SyncError) -> SalvagePortion {
      switch part {
      case .declarations: return try connection.salvageDeclarations()
      case .outbox: return try outbox(connection, after: number)
      case .conflicts:
        var portion = try scan(
          .conflicts, connection, table: "conflicts", number: "number",
          columns: "number, \(ConflictRows.columns)", after: number
        ) { statement throws(SyncError) in .conflict(try statement.conflict()) }
        if portion.next == nil { portion.losses += try connection.missingConflicts() }
        return portion
      case .values:
        return try scan(
          .values, connection, table: "state", number: "rowid", columns: "key, value", after: number
        ) { statement throws(SyncError) in
          if statement.isNull(1) { statement.noteDamage("a kept value without bytes") }
          return .value(key: statement.text(0), bytes: statement.bytes(1))
        }
      case .records(let entity): return try records(of: entity, connection, after: number)
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

  extension SalvagePlace {
    /// The number of the row behind which the place is.
    var number: Int64? { if case .row(let number) = self { number } else { nil } }
  }

  extension RowScan.Found {
    func losses(_ part: SalvageLoss.Part, _ type: RecordType?) -> [SalvageLoss] {
      unreadable.map { SalvageLoss(part, type: type, "row \($0) cannot be read") }
        + gaps.map { gap in
          SalvageLoss(
            part, type: type,
            "rows cannot be read, between the numbers \(gap.lowerBound) and \(gap.upperBound)")
        }
    }
  }

  extension Connection {
    func hasTable(_ name: String) throws(SyncError) -> Bool {
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
  }
#endif
