#if Postgres
  import SyncModels
  import SyncPorts

  /// Prepares a store for a schema, in a series of short transactions.
  ///
  /// First it creates the tables and columns. Then it fills the columns of existing rows by
  /// portions, while readers evaluate those fields from payloads, and builds the indexes of large
  /// tables beside the writes of others. Last come other indexes, views and the declarations. If a
  /// server dies in between, the store stays correct, and the next registration continues.
  struct Registration {
    let connection: Connection
    let schema: SyncSchema
    private let context: TransactionContext
    private static let portion = 500
    /// The number of rows from which indexes are built beside the writes of others.
    let largeTable: Int

    init(
      _ schema: SyncSchema, on connection: Connection, _ context: TransactionContext, largeTable: Int
    ) {
      self.connection = connection
      self.schema = schema
      self.largeTable = largeTable
      self.context = context
    }

    func run() throws(SyncError) {
      try connection.change(context) { (header) throws(SyncError) in
        try header.demand(.app)
        for entity in schema.entities {
          try makeTable(entity)
          try declareColumns(of: entity)
        }
        bumpCatalog()
      }
      for entity in schema.entities {
        while try fillPortion(of: entity) {}
        while try renewPortion(of: entity) {}
      }
      try buildIndexes()
      try connection.change(context) { (_) throws(SyncError) in
        // An index may still be missing, of rows that have come since.
        execute("SET LOCAL statement_timeout = 0")
        for entity in schema.entities {
          try retireOtherColumns(of: entity)
          try makeIndexes(entity)
          try makeView(entity)
          let declaration = try encoded(entity, what: "declaration of \(entity.type)")
          connection.enqueue(
            Statement("UPDATE entities SET declaration = $2::text WHERE type = $1::text") {
              $0.add(text: entity.type.rawValue)
              $0.add(text: declaration)
            })
        }
        bumpCatalog()
      }
    }

    private func bumpCatalog() {
      connection.enqueue(Statement("UPDATE store SET catalog = catalog + 1"))
    }

    func execute(_ sql: String) { connection.enqueue(Statement(sql, isKept: false)) }

    func query(
      _ sql: String, of entity: Entity, _ fill: (inout Parameters) -> Void = { _ in }
    ) throws(SyncError) -> ResultRows {
      try connection.query(
        Statement(sql) {
          $0.add(text: entity.type.rawValue)
          fill(&$0)
        }, during: "registering \(entity.type)")
    }

    func table(_ entity: Entity) -> String { StoredName.quoted(EntityTable.name(of: entity.type)) }

    private func makeTable(_ entity: Entity) throws(SyncError) {
      let known = try query(
        "SELECT declaration, EXISTS (SELECT FROM set_aside WHERE type = $1::text) FROM entities WHERE type = $1::text",
        of: entity)
      guard let row = known.first else {
        let (table, name) = (table(entity), EntityTable.name(of: entity.type))
        execute(
          """
          CREATE TABLE \(table) (
            row bigint GENERATED ALWAYS AS IDENTITY, id bytea NOT NULL, rest bytea NOT NULL,
            version_epoch bigint NOT NULL, version_sequence bigint NOT NULL, version_modified_at bigint NOT NULL,
            entity_tag bytea, schema_version bigint, round bigint NOT NULL DEFAULT 0, payload bytea,
            digest bigint)
          """)
        let index = StoredName.quoted(StoredName.of(name + ".id"))
        execute("CREATE UNIQUE INDEX \(index) ON \(table) (id, \(StoredKey.digest(of: "rest")))")
        // Complete, so that the type is known from now on; the fields follow.
        let declaration = try encoded(Entity(entity.type), what: "declaration of \(entity.type)")
        connection.enqueue(
          Statement(
            "INSERT INTO entities (type, declaration, table_name, view_name) VALUES ($1::text, $2::text, $3::text, $4::text)"
          ) {
            $0.add(text: entity.type.rawValue)
            $0.add(text: declaration)
            $0.add(text: name)
            $0.add(text: EntityTable.viewName(of: entity.type))
          })
        // Withheld changes may have come before their type.
        execute(
          """
          UPDATE entities SET unread_after = 0 WHERE type = '\(entity.type)' \
          AND EXISTS (SELECT FROM set_aside WHERE type = '\(entity.type)')
          """)
        return
      }
      let former = try decoded(Entity.self, from: row.text(0), what: "declaration of a type")
      guard former.references != entity.references, row.bool(1) else { return }
      _ = try query("UPDATE entities SET unread_after = 0 WHERE type = $1::text", of: entity)
    }

    // MARK: Columns

    struct KnownColumn {
      var column: String
      var isDeclared: Bool
      var isFilled: Bool
    }

    func knownColumns(of entity: Entity) throws(SyncError) -> [StoredColumn: KnownColumn] {
      let rows = try query(
        "SELECT name, mark, column_name, is_declared, is_filled FROM fields WHERE type = $1::text", of: entity
      )
      var known: [StoredColumn: KnownColumn] = [:]
      for row in rows {
        known[try StoredColumn(name: row.text(0), mark: row.integer(1))] = KnownColumn(
          column: row.text(2), isDeclared: row.bool(3), isFilled: row.bool(4))
      }
      return known
    }

    /// Adds a column for every declared field and natural key.
    private func declareColumns(of entity: Entity) throws(SyncError) {
      let known = try knownColumns(of: entity)
      let hasRows =
        try query("SELECT EXISTS (SELECT FROM \(table(entity))), $1::text", of: entity).first?.bool(0)
        ?? false
      var next = known.count
      var needsFilling = false
      for field in entity.storedColumns {
        if known[field]?.isDeclared == true { continue }
        // A field that was declared before has a column, with outdated values.
        let column = known[field]?.column ?? "f\(next)"
        if known[field] == nil {
          next += 1
          execute("ALTER TABLE \(table(entity)) ADD COLUMN \(column) bytea")
        }
        let (name, mark) = try field.spelled()
        connection.enqueue(
          Statement("DELETE FROM fields WHERE type = $1::text AND column_name = $2::text") {
            $0.add(text: entity.type.rawValue)
            $0.add(text: column)
          })
        connection.enqueue(
          Statement("INSERT INTO fields VALUES ($1::text, $2::text, $3::bigint, $4::text, true, $5::boolean)")
          {
            $0.add(text: entity.type.rawValue)
            $0.add(text: name)
            $0.add(mark)
            $0.add(text: column)
            $0.add(!hasRows)
          })
        needsFilling = needsFilling || hasRows
      }
      guard needsFilling else { return }
      // Filling begins anew, so that every unfilled column is filled in one pass.
      _ = try query("UPDATE entities SET filled_id = '', filled_rest = '' WHERE type = $1::text", of: entity)
    }

    /// Retires the columns of fields that are no longer declared. The columns stay, without index.
    private func retireOtherColumns(of entity: Entity) throws(SyncError) {
      let declared = entity.storedColumns
      for (field, column) in try knownColumns(of: entity) where !declared.contains(field) && column.isDeclared
      {
        _ = try query(
          "UPDATE fields SET is_declared = false WHERE type = $1::text AND column_name = $2::text", of: entity
        ) {
          $0.add(text: column.column)
        }
        execute("DROP INDEX IF EXISTS \(StoredName.quoted(indexName(entity, column.column)))")
      }
    }

    // MARK: Filling in

    /// Fills one portion of rows, and returns whether more may remain.
    private func fillPortion(of entity: Entity) throws(SyncError) -> Bool {
      try connection.change(context) { (_) throws(SyncError) -> Bool in
        let progress = try query(
          "SELECT filled_id, filled_rest FROM entities WHERE type = $1::text", of: entity
        ).first
        guard let progress, !progress.isNull(0) else { return false }
        let wanted = try knownColumns(of: entity).filter { $0.value.isDeclared && !$0.value.isFilled }
        let lifter = ColumnLifter(wanted.keys)
        let rows = try query(
          """
          SELECT id, rest, payload FROM \(table(entity)) WHERE (id, rest) > ($2::bytea, $3::bytea) AND $1::text <> '' \
          ORDER BY id, rest LIMIT \(Self.portion)
          """, of: entity
        ) {
          $0.add(bytes: progress.bytes(0))
          $0.add(bytes: progress.bytes(1))
        }
        let names = lifter.columns.compactMap { wanted[$0]?.column }
        if rows.count > 0, !names.isEmpty { try fill(rows, names, lifter, of: entity) }
        let isLast = rows.count < Self.portion
        let last = rows.last
        _ = try query(
          "UPDATE entities SET filled_id = $2::bytea, filled_rest = $3::bytea WHERE type = $1::text",
          of: entity
        ) {
          $0.add(bytes: isLast ? nil : last?.bytes(0))
          $0.add(bytes: isLast ? nil : last?.bytes(1))
        }
        if isLast {
          _ = try query(
            "UPDATE fields SET is_filled = true WHERE type = $1::text AND is_declared", of: entity)
          bumpCatalog()
        }
        return !isLast
      }
    }

    private func fill(
      _ rows: ResultRows, _ names: [String], _ lifter: ColumnLifter, of entity: Entity
    ) throws(SyncError) {
      var columns = [ColumnArray](.bytes, .bytes)
      columns += names.map { _ in ColumnArray(.bytes) }
      for row in rows {
        columns[0].append(row.bytes(0)[...])
        columns[1].append(row.bytes(1)[...])
        // A deleted row may have a value from before the column was retired.
        let values = lifter.values(in: row.isNull(2) ? nil : Payload(row.bytes(2)))
        for (place, column) in lifter.columns.enumerated() {
          if case .naturalKey = column {
            if case .string(let key) = values[place] {
              columns[place + 2].append(key)
            } else {
              columns[place + 2].appendNull()
            }
          } else {
            columns.append(field: values[place], at: place + 2)
          }
        }
      }
      let arrays = columns.indices.map { "$\($0 + 1)::bytea[]" }.joined(separator: ", ")
      let sets = names.indices.map { "\(names[$0]) = k.v\($0)" }.joined(separator: ", ")
      let values = names.indices.map { "v\($0)" }.joined(separator: ", ")
      connection.enqueue(
        Statement(
          """
          UPDATE \(table(entity)) AS r SET \(sets) FROM unnest(\(arrays)) AS k(id, rest, \(values)) \
          WHERE \(EntityTable.sameKey)
          """, isKept: false
        ) { $0.add(columns) })
    }

    /// Reads the references of a portion of withheld changes, and returns whether more may remain.
    private func renewPortion(of entity: Entity) throws(SyncError) -> Bool {
      try connection.change(context) { (_) throws(SyncError) -> Bool in
        let row = try query("SELECT unread_after FROM entities WHERE type = $1::text", of: entity).first
        guard let reached = row?.optionalInteger(0) else { return false }
        let next = try PostgresTransaction(on: connection)
          .renewReferences(of: entity, after: reached, limit: Self.portion)
        _ = try query("UPDATE entities SET unread_after = $2::bigint WHERE type = $1::text", of: entity) {
          $0.add(next)
        }
        return next != nil
      }
    }
  }
#endif
