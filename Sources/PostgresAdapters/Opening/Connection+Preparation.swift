#if Postgres
  import SyncModels

  extension Connection {
    /// What a database has under the name of a store's schema.
    private struct Found {
      var serverVersion: Int64
      var hasSchema: Bool
      /// Whether the schema has the table `store` with the columns of this library.
      var hasStore: Bool
      /// The number of other relations, if there is no store.
      var relations: Int64
    }

    /// Opens the connection, and returns whether a pooler is in between.
    func openSession() throws(SyncError) -> Bool {
      do throws(PostgresFailure) {
        try open()
      } catch {
        throw error.error(during: "opening the store")
      }
      return session?.isPooled == true
    }

    /// Finds or makes the store in the schema, and applies the missing migrations.
    ///
    /// What the checks refuse stays unchanged.
    func prepareStore(_ migrations: [Migration], isReadOnly: Bool) throws(SyncError) {
      let found = try look()
      guard found.serverVersion >= 130_000 else {
        throw SyncError(
          .invalidConfiguration, during: "opening the store",
          "The server is PostgreSQL \(found.serverVersion / 10_000); a store needs version 13 or later.")
      }
      let schema = settings.schema
      if !found.hasStore {
        guard found.relations == 0 else {
          throw SyncError(
            .storeUnreadable, during: "opening the store",
            "The schema \(schema) holds tables of another application; it was not touched.")
        }
        guard !isReadOnly else {
          throw SyncError(
            .storeFailure, during: "opening the store",
            "There is no store in the schema \(schema), and a read-only store is not created.")
        }
      }
      let layout = found.hasStore ? try self.layout() : 0
      guard layout <= migrations.count else {
        throw SyncError(
          .storeNewer, during: "opening the store",
          """
          The store in \(schema) has layout \(layout) and this version of the library knows \(migrations.count): \
          update the app. The store was not touched.
          """)
      }
      if layout == migrations.count { return }
      guard !isReadOnly else {
        throw SyncError(
          .storeReadOnly, during: "opening the store",
          "The store has an older layout, and a read-only store is not brought up to date.")
      }
      try apply(migrations)
    }

    private func look() throws(SyncError) -> Found {
      let sql = """
        SELECT current_setting('server_version_num')::bigint, \
        EXISTS (SELECT FROM pg_namespace WHERE nspname = $1::text), \
        (SELECT count(*) FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid \
        JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND c.relname = 'store' \
        AND a.attname IN ('application', 'layout', 'kept_version')) = 3, \
        (SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1::text)
        """
      let rows = try query(Statement(sql) { $0.add(text: settings.schema) }, during: "opening the store")
      return Found(
        serverVersion: rows.first?.integer(0) ?? 0, hasSchema: rows.first?.bool(1) ?? false,
        hasStore: rows.first?.bool(2) ?? false, relations: rows.first?.integer(3) ?? 0)
    }

    private func layout() throws(SyncError) -> Int {
      let store = "\(StoredName.quoted(settings.schema)).store"
      let row = try query(Statement("SELECT application, layout FROM \(store)"), during: "opening the store")
        .first
      guard let row, row.text(0) == Migration.application, row.integer(1) >= 0 else {
        throw SyncError(
          .storeUnreadable, during: "opening the store",
          "The schema \(settings.schema) holds tables of another application; it was not touched.")
      }
      return Int(row.integer(1))
    }

    /// Applies every missing migration, each in its own transaction, one server at a time.
    private func apply(_ migrations: [Migration]) throws(SyncError) {
      while true {
        do throws(SyncError) {
          if try applyNext(of: migrations) { return }
        } catch {
          let explained = explained(error)
          rollback()
          throw explained
        }
      }
    }

    /// Applies the next migration, and returns whether none is left.
    private func applyNext(of migrations: [Migration]) throws(SyncError) -> Bool {
      let operation = "migrating the store's layout"
      enqueue(beginning(Self.writing))
      enqueue(sessionGuard)
      enqueue(Statement("SELECT pg_advisory_xact_lock(\(settings.writeLock))"))
      // Another server may have migrated the store while this one waited.
      let found = try look()
      if !found.hasSchema {
        enqueue(Statement("CREATE SCHEMA \(StoredName.quoted(settings.schema))", isKept: false))
      }
      let layout = found.hasStore ? try self.layout() : 0
      if layout < migrations.count {
        let migration = migrations[layout]
        do throws(SyncError) {
          for statement in migration.statements { enqueue(Statement(statement, isKept: false)) }
          // Transactions that begin with a remembered row compare the catalog's number.
          enqueue(
            Statement("UPDATE store SET layout = \(layout + 1), catalog = catalog + 1", isKept: false))
          try flush(during: operation)
        } catch {
          throw SyncError(
            error.code, during: operation,
            "Step \(layout + 1), \"\(migration.name)\", failed; the store is as it was before it. \(error.message)",
            underlying: error.underlying)
        }
      }
      enqueue(Statement("COMMIT"))
      try flush(during: operation)
      return layout + 1 >= migrations.count
    }
  }
#endif
