#if SQLite
  package import SyncModels
  import Synchronization

  // What tests look at from outside.
  extension SQLiteStore {
    /// How SQLite would carry a query out, a line for each step.
    package func queryPlan(_ query: Query) async throws(SyncError) -> [String] {
      try await readers.run { connection throws(SyncError) -> [String] in
        try connection.transaction(.read) { () throws(SyncError) -> [String] in
          try connection.refreshCatalog(Declarations())
          let table = try connection.catalog.table(query.type, during: "explaining a query")
          let compiled = CompiledQuery(query, in: table)
          let statement = try connection.statement("EXPLAIN QUERY PLAN " + compiled.sql)
          defer { statement.clear() }
          try statement.bind(compiled.parameters)
          var steps: [String] = []
          while try statement.step() { steps.append(statement.text(3)) }
          return steps
        }
      }
    }

    /// How many statements are in the middle of a run, on all connections.
    package func busyStatements() async throws(SyncError) -> Int {
      let count = Mutex(0)
      try await writer.run { connection in count.withLock { $0 += connection.busyStatements } }
      try await readers.runOnEach { connection in count.withLock { $0 += connection.busyStatements } }
      return count.withLock { $0 }
    }

    /// Keeps the file from growing, as a full disk would.
    package func limitPages(to pages: Int) async throws(SyncError) {
      try await writer.run { connection throws(SyncError) in
        _ = try connection.value("PRAGMA max_page_count = \(pages)")
      }
    }

    /// Runs SQL on the writer's connection, as another tool might.
    package func execute(_ sql: String) async throws(SyncError) {
      try await writer.run { connection throws(SyncError) in try connection.execute(sql) }
    }

    /// A number that SQL gives.
    package func number(_ sql: String) async throws(SyncError) -> Int64? {
      try await writer.run { connection throws(SyncError) -> Int64? in try connection.value(sql) }
    }
  }
#endif
