#if Postgres
  import CanonicalSyncCPostgres
  import SyncModels

  // The indexes of a type. A large table gets its own without stopping the writes of others.
  extension Registration {
    /// An index that a declaration demands, or that it no longer does.
    private struct Index {
      var name: String
      /// What is indexed; `nil` for an index that is to be dropped.
      var definition: String?

      var quotedName: String { StoredName.quoted(name) }
    }

    func indexName(_ entity: Entity, _ column: String) -> String {
      StoredName.of("\(EntityTable.name(of: entity.type)).\(column)")
    }

    private func indexes(of entity: Entity) throws(SyncError) -> [Index] {
      let names = Set(entity.indexes + entity.references.filter(\.isOrdered).map(\.field))
      let indexed = Set(names.map { entity.storedField($0) })
      var indexes: [Index] = []
      for (field, column) in try knownColumns(of: entity) where column.isDeclared {
        let start = ConditionCompiler.indexed(column.column)
        let definition: String? =
          switch field {
          case .field(let field):
            indexed.contains(field) ? "(\(start) NULLS FIRST, id) WHERE payload IS NOT NULL" : nil
          case .naturalKey: "(\(start)) WHERE \(column.column) IS NOT NULL"
          }
        indexes.append(Index(name: indexName(entity, column.column), definition: definition))
      }
      return indexes
    }

    /// Makes the indexes that are still missing, and drops those that are no longer declared.
    func makeIndexes(_ entity: Entity) throws(SyncError) {
      let known = try knownIndexes(of: entity)
      for index in try indexes(of: entity) {
        switch (index.definition, known[index.name]) {
        case (nil, _): execute("DROP INDEX IF EXISTS \(index.quotedName)")
        case (_, true): break
        case (_, false): execute("REINDEX INDEX \(index.quotedName)")
        case (let definition?, nil):
          execute("CREATE INDEX \(index.quotedName) ON \(table(entity)) \(definition)")
        }
      }
    }

    /// Whether each index of a type's table is valid: whole, and used by the server.
    private func knownIndexes(of entity: Entity) throws(SyncError) -> [String: Bool] {
      let rows = try query(
        """
        SELECT c.relname::text, i.indisvalid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid \
        WHERE i.indrelid = to_regclass($2::text) AND $1::text <> ''
        """, of: entity
      ) { $0.add(text: table(entity)) }
      var known: [String: Bool] = [:]
      for row in rows { known[row.text(0)] = row.bool(1) }
      return known
    }

    // MARK: Beside writes

    /// Builds the missing indexes of large tables while others write.
    ///
    /// PostgreSQL does so outside of transactions, and leaves an invalid index behind if it is
    /// interrupted, which is dropped first. One server at a time builds, because the builds of two
    /// would wait for each other. A build waits for all transactions that have begun. Behind one that
    /// takes long, such as a backup's, it is left to ``makeIndexes(_:)``.
    func buildIndexes() throws(SyncError) {
      // A build outlasts the transactions for which a pool lends a session.
      if connection.settings.isLent { return }
      try connection.attempting { (_) throws(SyncError) in
        var isComplete = true
        for entity in schema.entities where isComplete { isComplete = try missing(of: entity).isEmpty }
        if isComplete { return }
        try lock()
        try run("SET statement_timeout = 0")
        do throws(SyncError) {
          for entity in schema.entities {
            for index in try missing(of: entity) {
              try run("DROP INDEX CONCURRENTLY IF EXISTS \(index.quotedName)")
              try run(
                "CREATE INDEX CONCURRENTLY \(index.quotedName) ON \(table(entity)) \(index.definition ?? "")")
            }
          }
        } catch {
          guard connection.failure?.state == PostgresFailure.lockTimeout else {
            // The next session has its own lock and settings.
            connection.close()
            throw error
          }
          // The session goes on, with the locks of leases that it keeps.
          connection.rollback()
        }
        try run("SET statement_timeout = \(connection.settings.statementMilliseconds)")
        try run("SELECT pg_advisory_unlock(\(connection.settings.indexLock))")
      }
    }

    /// The declared indexes that a large table lacks, or has from an interrupted build.
    private func missing(of entity: Entity) throws(SyncError) -> [Index] {
      let known = try knownIndexes(of: entity)
      let missing = try indexes(of: entity).filter { $0.definition != nil && known[$0.name] != true }
      if missing.isEmpty { return [] }
      // The index of a small table takes less time than a wait for transactions of others.
      let rows = try query(
        "SELECT count(*) >= $2::bigint FROM (SELECT FROM \(table(entity)) WHERE $1::text <> '' LIMIT $2::bigint) AS r",
        of: entity
      ) { $0.add(Int64(largeTable)) }
      return rows.first?.bool(0) == true ? missing : []
    }

    /// Waits until no other server builds an index.
    ///
    /// It asks now and then: a statement that waits in the server would keep a build waiting.
    private func lock() throws(SyncError) {
      let patience = connection.settings.busyMilliseconds
      let statement = Statement(
        "SELECT pg_try_advisory_lock(\(connection.settings.indexLock))", isKept: false)
      let start = ContinuousClock.now
      while try connection.query(statement, during: Self.operation).first?.bool(0) != true {
        guard patience == 0 || ContinuousClock.now - start < .milliseconds(patience) else {
          throw SyncError(
            .storeBusy, during: Self.operation,
            "Another server is building an index of the store; register the types again later.")
        }
        cpostgres_pause(50)
      }
    }

    /// Runs a statement outside of a transaction.
    private func run(_ sql: String) throws(SyncError) {
      execute(sql)
      try connection.flush(during: Self.operation)
    }

    private static let operation = "building an index"
  }
#endif
