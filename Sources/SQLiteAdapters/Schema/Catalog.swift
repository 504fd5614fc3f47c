#if SQLite
  import SyncModels

  /// The registered types in the file, combined with this store object's declarations.
  ///
  /// Another process may have registered other declarations meanwhile. Records read here still have
  /// the fields that this object declared.
  struct Catalog {
    private(set) var version: Int64
    private(set) var generation: Int
    /// The most recently registered declarations, by type.
    private(set) var stored: [Entity]
    private(set) var tables: [RecordType: EntityTable]
    /// The types whose withheld changes have to be read again to find their references.
    private(set) var unread: Set<RecordType>
    /// The place where the store has moved; `nil` for a store in use.
    private(set) var movedTo: String?

    static var empty: Catalog {
      Catalog(version: -1, generation: -1, stored: [], tables: [:], unread: [])
    }

    /// The table of a type, which must be registered.
    func table(_ type: RecordType, during operation: @autoclosure () -> String) throws(SyncError)
      -> EntityTable
    {
      if let table = tables[type] { return table }
      throw SyncError(.invalidConfiguration, during: operation(), "\(type) is not registered in the store.")
    }
  }

  extension Connection {
    /// Reads the registered types unless they are cached.
    ///
    /// A change of the layout changes the catalog's number too, so the layout is checked only then.
    /// Call it at the start of each transaction.
    func refreshCatalog(_ declarations: Declarations) throws(SyncError) {
      let version = try catalogVersion()
      guard version != catalog.version || declarations.generation != catalog.generation else { return }
      try demandKnownLayout()
      var stored: [Entity] = []
      try forEachRow("SELECT declaration FROM entities ORDER BY type") { row throws(SyncError) in
        stored.append(try decoded(Entity.self, from: row.text(0), what: "declaration of a type"))
      }
      let columns = try columnsByType()
      let naturalKeys = try naturalKeysByType()
      var tables: [RecordType: EntityTable] = [:]
      for entity in stored {
        let declared = declarations.entities[entity.type] ?? entity
        let derived = DerivedColumns(
          of: declared, fields: columns[entity.type] ?? [], naturalKeys: naturalKeys[entity.type] ?? [])
        tables[entity.type] = EntityTable(declared, derived)
      }
      var unread: Set<RecordType> = []
      let prefix = ReferenceRenewal.prefix
      try forEachRow("SELECT substr(key, \(prefix.utf8.count + 1)) FROM meta WHERE key GLOB '\(prefix)*'") {
        row throws(SyncError) in
        unread.insert(RecordType(row.text(0)))
      }
      catalog = Catalog(
        version: version, generation: declarations.generation, stored: stored, tables: tables, unread: unread,
        movedTo: try placeMovedTo())
    }

    private func catalogVersion() throws(SyncError) -> Int64 {
      let statement = try meta("catalog")
      defer { statement.reset() }
      return try statement.step() ? statement.integer(0) : 0
    }

    /// The statement that reads a value of `meta`. One serves all keys.
    func meta(_ key: StaticString) throws(SyncError) -> Statement {
      let statement = try statement("SELECT value FROM meta WHERE key = ?")
      try statement.bind(word: key, at: 1)
      return statement
    }

    private func columnsByType() throws(SyncError) -> [RecordType: [DerivedColumns.Column<StoredField>]] {
      var columns: [RecordType: [DerivedColumns.Column<StoredField>]] = [:]
      let sql = """
        SELECT type, name, is_key, column_name, filled_through IS NULL FROM fields \
        WHERE is_declared AND is_key < \(StoredNaturalKey.mark) \
        ORDER BY type, CAST(substr(column_name, 2) AS INTEGER)
        """
      try forEachRow(sql) { row throws(SyncError) in
        columns[RecordType(row.text(0)), default: []].append(
          DerivedColumns.Column(
            StoredField(name: FieldName(row.text(1)), isKey: row.integer(2) != 0), name: row.text(3),
            isFilled: row.integer(4) != 0))
      }
      return columns
    }

    private func naturalKeysByType() throws(SyncError)
      -> [RecordType: [DerivedColumns.Column<StoredNaturalKey>]]
    {
      var columns: [RecordType: [DerivedColumns.Column<StoredNaturalKey>]] = [:]
      let sql = """
        SELECT type, name, column_name, filled_through IS NULL FROM fields \
        WHERE is_declared AND is_key = \(StoredNaturalKey.mark)
        """
      try forEachRow(sql) { row throws(SyncError) in
        columns[RecordType(row.text(0)), default: []].append(
          DerivedColumns.Column(
            try StoredNaturalKey(storedAs: row.text(1)), name: row.text(2), isFilled: row.integer(3) != 0
          ))
      }
      return columns
    }

    /// Invalidates the catalogs of all connections.
    func bumpCatalog() throws(SyncError) {
      // A number that is damaged or missing must change as well.
      try execute(
        """
        INSERT OR REPLACE INTO meta \
        VALUES ('catalog', ifnull((SELECT value FROM meta WHERE key = 'catalog'), 0) + 1)
        """)
    }

    /// Calls a body for each row of a statement without parameters.
    func forEachRow(_ sql: String, _ body: (Statement) throws(SyncError) -> Void) throws(SyncError) {
      let statement = try statement(sql)
      defer { statement.reset() }
      while try statement.step() { try body(statement) }
    }
  }
#endif
