#if SQLite
  import SyncModels

  // The checks of each type's declaration and table.
  extension FormatCheck {
    /// Reads the declarations, and passes on those that can be read.
    static func declarations(_ use: @escaping @Sendable ([Entity]) -> Void) -> FormatCheck {
      FormatCheck(.schema, "the declarations") { connection, _ throws(SyncError) in
        var found: [StoreFinding] = []
        var entities: [Entity] = []
        try connection.forEachRow("SELECT type, declaration FROM entities ORDER BY type") {
          row throws(SyncError) in
          let type = RecordType(row.text(0))
          let entity = try? decoded(Entity.self, from: row.text(1), what: "declaration of a type")
          if let entity, entity.type == type {
            entities.append(entity)
          } else {
            found.append(StoreFinding(.schema, type: type, "its declaration cannot be read"))
          }
        }
        use(entities)
        return found
      }
    }

    /// The checks of one type.
    static func of(_ entity: Entity) -> [FormatCheck] {
      let type = entity.type
      let table = quoted(EntityTable.name(of: type))
      return [
        FormatCheck(.schema, type: type, "the table of \(type)") { connection, _ throws(SyncError) in
          try objects(of: entity, on: connection)
        },
        FormatCheck(
          .rows, type: type, "a row has a malformed column",
          where: """
            SELECT NULL, CASE typeof(id) WHEN 'text' THEN id END FROM \(table) WHERE
              typeof(id) <> 'text' OR id = '' OR typeof(version_epoch) <> 'integer'
              OR typeof(version_sequence) <> 'integer' OR typeof(version_modified_at) <> 'integer'
              OR typeof(entity_tag) NOT IN ('text', 'null') OR (payload IS NULL) <> (schema_version IS NULL)
              OR typeof(payload) NOT IN ('blob', 'null') OR typeof(schema_version) NOT IN ('integer', 'null')
            """),
        FormatCheck(
          .rows, type: type, "a row is not as the library has written it",
          where: RowChecksum.differing(
            "NULL, CASE typeof(id) WHEN 'text' THEN id END", from: table,
            RowChecksum.of(EntityTable.checkedColumns))),
        FormatCheck(
          .values, type: type, "the marks are of rows that do not exist",
          where: """
            SELECT type, NULL FROM marks WHERE type = \(literal(type.rawValue))
              AND chunk * \(MarkBitmap.rowsPerChunk) > (SELECT coalesce(max(row), 0) FROM \(table))
            """),
        FormatCheck(.naturalKeys, type: type, "the natural keys of \(type)") {
          connection, limit throws(SyncError) in
          try keysOfDeleted(entity, on: connection, limit: limit)
        },
      ]
    }

    /// Compares the type's table, indexes and view with those that a registration creates.
    private static func objects(
      of entity: Entity, on connection: Connection
    ) throws(SyncError) -> [StoreFinding] {
      var columns: [String] = []
      let statement = try connection.statement(
        "SELECT column_name FROM fields WHERE type = ? ORDER BY CAST(substr(column_name, 2) AS INTEGER)")
      try statement.bind(entity.type.rawValue, at: 1)
      defer { statement.reset() }
      while try statement.step() { columns.append(statement.text(0)) }
      guard columns.allSatisfy({ $0.isColumnName }), Set(columns).count == columns.count else {
        return [StoreFinding(.schema, type: entity.type, "a column of its fields has an impossible name")]
      }
      let declared = try connection.declaredFields(of: entity)
      var found: [StoreFinding] = []
      for column in entity.storedColumns where declared[column] == nil {
        found.append(StoreFinding(.schema, type: entity.type, "a declared field has no column"))
      }
      guard declared.values.allSatisfy(columns.contains) else { return found }
      // Behind the columns of the fields that the table had before the checksums.
      let place = try connection.columnsBeforeChecksum(of: entity, columns.count)
      columns.insert(RowChecksum.column, at: place)
      let intended = try SchemaReference().objects(of: entity, columns: columns, declared: declared)
      let stored = try connection.schemaObjects()
      for (name, sql) in intended.sorted(by: { $0.key < $1.key }) where stored[name] != sql {
        found.append(
          StoreFinding(
            .schema, type: entity.type, key: name,
            stored[name] == nil ? "it is missing" : "it is not as the library creates it"))
      }
      return found
    }

    /// Finds natural keys of deleted records. A pending deletion keeps its key.
    private static func keysOfDeleted(
      _ entity: Entity, on connection: Connection, limit: Int
    ) throws(SyncError) -> [StoreFinding] {
      let table = quoted(EntityTable.name(of: entity.type))
      var found: [StoreFinding] = []
      for (column, name) in try connection.declaredFields(of: entity) {
        guard case .naturalKey = column, name.isColumnName else { continue }
        let statement = try connection.statement(
          """
          SELECT id FROM \(table) WHERE payload IS NULL AND \(name) IS NOT NULL
            AND id NOT IN (SELECT id FROM outbox WHERE type = ?1) LIMIT ?2
          """)
        defer { statement.clear() }
        try statement.bind(entity.type.rawValue, at: 1)
        try statement.bind(Int64(limit), at: 2)
        while try statement.step() {
          found.append(
            StoreFinding(
              .naturalKeys, type: entity.type, key: statement.text(0),
              "a deleted record keeps its natural key"))
        }
      }
      return found
    }
  }

  extension String {
    /// Whether the text is the name of a column as registrations give it.
    fileprivate var isColumnName: Bool {
      utf8.first == UInt8(ascii: "f") && utf8.count > 1 && utf8.count < 20
        && utf8.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
  }

  /// Returns a text as a literal of SQL.
  private func literal(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }

  extension Connection {
    /// The number of fields' columns before the checksum in a type's table.
    fileprivate func columnsBeforeChecksum(of entity: Entity, _ most: Int) throws(SyncError) -> Int {
      let statement = try statement("SELECT cid FROM pragma_table_info(?) WHERE name = ?")
      defer { statement.reset() }
      try statement.bind(EntityTable.name(of: entity.type), at: 1)
      try statement.bind(RowChecksum.column, at: 2)
      let others = 1 + EntityTable.checkedColumns.count
      return try statement.step() ? max(0, min(most, Int(statement.integer(0)) - others)) : 0
    }
  }
#endif
