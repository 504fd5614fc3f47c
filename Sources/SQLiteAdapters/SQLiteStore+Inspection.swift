#if SQLite
  import CanonicalSyncDatabases
  package import SyncModels
  import Synchronization

  // For tests of the file and the connections.
  extension SQLiteStore {
    /// The plan of SQLite for a query, one line for each step.
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

    /// The number of statements that are between two rows, on all connections.
    package func busyStatements() async throws(SyncError) -> Int {
      let count = Mutex(0)
      try await writer.run { connection in count.withLock { $0 += connection.busyStatements } }
      try await readers.runOnEach { connection in count.withLock { $0 += connection.busyStatements } }
      return count.withLock { $0 }
    }

    /// Limits the file's size, to simulate a full disk.
    package func limitPages(to pages: Int) async throws(SyncError) {
      try await writer.run { connection throws(SyncError) in
        _ = try connection.value("PRAGMA max_page_count = \(pages)")
      }
    }

    /// Runs SQL on the writing connection, as another tool might.
    package func execute(_ sql: String) async throws(SyncError) {
      try await writer.run { connection throws(SyncError) in
        // Its own connection's changes are not seen as another's.
        connection.cache.forget()
        try connection.execute(sql)
      }
    }

    /// The number that a statement returns.
    package func number(_ sql: String) async throws(SyncError) -> Int64? {
      try await writer.run { connection throws(SyncError) -> Int64? in try connection.value(sql) }
    }
  }
#endif
