#if SQLite
  import CanonicalSyncDatabases
  import SyncModels

  typealias Catalog = CanonicalSyncDatabases.Catalog<EntityTable>

  extension Connection {
    /// Reads the registered types unless they are cached.
    ///
    /// A change of the layout changes the catalog's number too, so the layout is checked only then.
    /// Call it at the start of each transaction.
    func refreshCatalog(_ declarations: Declarations) throws(SyncError) {
      let version = try catalogVersion()
      if catalog.isOf(version: version, declarations) { return }
      try demandKnownLayout()
      var columns = TypeColumns()
      let fields = """
        SELECT column_name, type, name, is_key, filled_through IS NULL FROM fields \
        WHERE is_declared ORDER BY type, CAST(substr(column_name, 2) AS INTEGER)
        """
      try forEachRow(fields) { row throws(SyncError) in
        try columns.add(
          row.text(0), of: RecordType(row.text(1)), holding: row.text(2), mark: row.integer(3),
          isFilled: row.integer(4) != 0)
      }
      var catalog = Catalog(version: version, declarations)
      try forEachRow("SELECT declaration FROM entities ORDER BY type") { row throws(SyncError) in
        let entity = try decoded(Entity.self, from: row.text(0), what: "declaration of a type")
        let declared = declarations.entities[entity.type] ?? entity
        catalog.add(entity, EntityTable(declared, columns.derived(for: declared)))
      }
      let prefix = ReferenceRenewal.prefix
      try forEachRow("SELECT substr(key, \(prefix.utf8.count + 1)) FROM meta WHERE key GLOB '\(prefix)*'") {
        row throws(SyncError) in
        catalog.unfinished.insert(RecordType(row.text(0)))
      }
      movedTo = try placeMovedTo()
      self.catalog = catalog
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
