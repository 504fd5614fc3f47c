#if SQLite
  import CanonicalSyncDatabases
  import SyncModels

  /// Prepares a file for a schema, in a series of short transactions.
  ///
  /// First it creates the tables and columns. Then it fills the columns of existing rows by
  /// portions, while readers evaluate those fields from payloads. Last come indexes, views and the
  /// declarations. If a process dies in between, the file stays correct, and the next registration
  /// continues.
  struct Registration {
    private let connection: Connection
    private let schema: SyncSchema
    private static let portion = 500

    init(_ schema: SyncSchema, on connection: Connection) {
      self.connection = connection
      self.schema = schema
    }

    func run() throws(SyncError) {
      var unfilled: [Entity] = []
      try change { () throws(SyncError) in
        for entity in schema.entities {
          try checkName(of: entity)
          for statement in TypeObjects(entity).creation { try connection.execute(statement) }
          if try declareColumns(of: entity) { unfilled.append(entity) }
          if let former = connection.catalog.stored.first(where: { $0.type == entity.type }),
            former.references != entity.references
          {
            try ReferenceRenewal(connection: connection, entity: entity).demand()
          }
        }
      }
      for entity in unfilled {
        while try fillPortion(of: entity) {}
      }
      for entity in schema.entities {
        let renewal = ReferenceRenewal(connection: connection, entity: entity)
        while try renewal.renewPortion() {}
      }
      try change { () throws(SyncError) in
        for entity in schema.entities {
          try retireOtherColumns(of: entity)
          let (objects, declared) = (TypeObjects(entity), try connection.declaredFields(of: entity))
          for statement in objects.indexes(declared) + objects.view(declared) {
            try connection.execute(statement)
          }
          try connection.run(
            "INSERT OR REPLACE INTO entities VALUES (?, ?)", .text(entity.type.rawValue),
            .text(try encoded(entity, what: "declaration of \(entity.type)")))
        }
      }
    }

    /// Changes declarations in a transaction.
    private func change(_ body: () throws(SyncError) -> Void) throws(SyncError) {
      try connection.transaction(.write) { () throws(SyncError) in
        try connection.demandKnownLayout()
        try body()
        try connection.bumpCatalog()
      }
    }

    /// SQLite's names ignore case, so an earlier type may have the same name.
    private func checkName(of entity: Entity) throws(SyncError) {
      let other = try connection.first(
        "SELECT type FROM entities WHERE type = ?1 COLLATE NOCASE AND type <> ?1", .text(entity.type.rawValue)
      ) { $0.text(0) }
      guard let other else { return }
      throw SyncError(
        .invalidConfiguration, during: "registering \(entity.type)",
        "The store has the type \(other), whose name differs in case alone.")
    }

    // MARK: Columns

    /// Adds a column for every declared field and natural key.
    ///
    /// Returns whether a column has to be filled.
    private func declareColumns(of entity: Entity) throws(SyncError) -> Bool {
      let table = quoted(EntityTable.name(of: entity.type))
      let known = try connection.knownColumns(of: entity)
      let hasRows = try connection.value("SELECT 1 FROM \(table) LIMIT 1") != nil
      var next = known.count
      var needsFilling = false
      for field in entity.storedColumns {
        if let column = known[field], column.isDeclared {
          needsFilling = needsFilling || !column.isFilled
          continue
        }
        // A field that was declared before has a column, with outdated values.
        let column = known[field]?.column ?? "f\(next)"
        if known[field] == nil {
          next += 1
          try connection.execute(TypeObjects(entity).addition(of: column))
        }
        let (name, mark) = try field.spelled()
        try connection.run(
          "INSERT OR REPLACE INTO fields VALUES (?, ?, ?, ?, 1, ?)", .text(entity.type.rawValue), .text(name),
          .number(mark), .text(column), .number(hasRows ? .min : nil))
        needsFilling = needsFilling || hasRows
      }
      return needsFilling
    }

    /// Retires the columns of fields that are no longer declared.
    ///
    /// Their indexes are dropped; the columns stay.
    private func retireOtherColumns(of entity: Entity) throws(SyncError) {
      let declared = entity.storedColumns
      for (field, column) in try connection.knownColumns(of: entity)
      where !declared.contains(field) && column.isDeclared {
        let (name, mark) = try field.spelled()
        try connection.run(
          "UPDATE fields SET is_declared = 0 WHERE type = ? AND name = ? AND is_key = ?",
          .text(entity.type.rawValue), .text(name), .number(mark))
        try connection.execute(TypeObjects(entity).removalOfIndex(over: column.column))
      }
    }

    // MARK: Filling in

    /// Fills one portion of rows, and returns whether more may remain.
    private func fillPortion(of entity: Entity) throws(SyncError) -> Bool {
      try connection.transaction(.write) { () throws(SyncError) -> Bool in
        try connection.demandKnownLayout()
        let wanted = try connection.knownColumns(of: entity).filter {
          $0.value.isDeclared && !$0.value.isFilled
        }
        guard !wanted.isEmpty else { return false }
        let lifter = ColumnLifter(wanted.keys)
        let reached = try filledThrough(entity)
        let rows = try rows(of: entity, after: reached)
        let table = quoted(EntityTable.name(of: entity.type))
        let columns = lifter.columns.compactMap { wanted[$0]?.column }
        let update = try connection.statement(
          "UPDATE \(table) SET \(columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE row = ?")
        for (row, payload) in rows {
          // A deleted row may have a value from before the column was retired.
          for (place, value) in lifter.values(in: payload).enumerated() {
            try update.bind(value, at: Int32(place + 1))
          }
          try update.bind(row, at: Int32(columns.count + 1))
          try update.run()
        }
        let isLast = rows.count < Self.portion
        for field in lifter.columns {
          let (name, mark) = try field.spelled()
          try connection.run(
            "UPDATE fields SET filled_through = ?4 WHERE type = ?1 AND name = ?2 AND is_key = ?3",
            .text(entity.type.rawValue), .text(name), .number(mark),
            .number(isLast ? nil : rows.last?.row ?? reached))
        }
        if !isLast, try filledThrough(entity) <= reached {
          connection.noteDamage("rows of \(entity.type) whose fill state is contradictory")
        }
        return !isLast
      }
    }

    /// The row up to which every field of a type is filled.
    private func filledThrough(_ entity: Entity) throws(SyncError) -> Int64 {
      try connection.first(
        "SELECT min(filled_through) FROM fields WHERE type = ? AND is_declared AND filled_through IS NOT NULL",
        .text(entity.type.rawValue)
      ) { $0.integer(0) } ?? .min
    }

    private func rows(
      of entity: Entity, after row: Int64
    ) throws(SyncError) -> [(row: Int64, payload: Payload?)] {
      let table = quoted(EntityTable.name(of: entity.type))
      let statement = try connection.statement(
        "SELECT row, payload FROM \(table) WHERE row > ? ORDER BY row LIMIT ?")
      try statement.bind(row, at: 1)
      try statement.bind(Int64(Self.portion), at: 2)
      defer { statement.reset() }
      var rows: [(row: Int64, payload: Payload?)] = []
      while try statement.step() {
        rows.append((statement.integer(0), statement.isNull(1) ? nil : Payload(statement.bytes(1))))
      }
      return rows
    }
  }

  extension Connection {
    /// A column of a type's table, as the table `fields` describes it.
    struct KnownColumn {
      var column: String
      var isDeclared: Bool
      var isFilled: Bool
    }

    func knownColumns(of entity: Entity) throws(SyncError) -> [StoredColumn: KnownColumn] {
      let statement = try statement(
        "SELECT name, is_key, column_name, is_declared, filled_through IS NULL FROM fields WHERE type = ?")
      try statement.bind(entity.type.rawValue, at: 1)
      defer { statement.reset() }
      var known: [StoredColumn: KnownColumn] = [:]
      while try statement.step() {
        known[try StoredColumn(name: statement.text(0), mark: statement.integer(1))] = KnownColumn(
          column: statement.text(2), isDeclared: statement.integer(3) != 0,
          isFilled: statement.integer(4) != 0)
      }
      return known
    }

    /// The columns of a type's declared fields and natural keys.
    func declaredFields(of entity: Entity) throws(SyncError) -> [StoredColumn: String] {
      try knownColumns(of: entity).filter(\.value.isDeclared).mapValues(\.column)
    }
  }
#endif
