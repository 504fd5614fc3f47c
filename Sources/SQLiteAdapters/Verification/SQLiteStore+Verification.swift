#if SQLite
  import CanonicalSyncCSQLite
  public import SyncModels
  public import SyncPorts
  import Synchronization

  extension SQLiteStore: VerifiableStore {
    /// Checks the file's pages, its schema, and what the tables say of each other.
    ///
    /// SQLite checks the whole file in one read; every other check is a read of its own. Writers
    /// continue meanwhile.
    ///
    /// - Complexity: O(*n* log *n*) in the rows and index entries of the file.
    public func formatFindings(limit: Int) async throws(SyncError) -> [StoreFinding] {
      var found: [StoreFinding] = []
      let types = Mutex<[Entity]>([])
      try await run(.declarations { entities in types.withLock { $0 = entities } }, limit: limit, &found)
      let checks = FormatCheck.ofFile + types.withLock { $0 }.flatMap { FormatCheck.of($0) }
      for check in checks where found.count < limit {
        try await run(check, limit: limit - found.count, &found)
      }
      return found
    }

    /// - Throws: `cancelled` once the task is cancelled, also within a statement.
    private func run(
      _ check: FormatCheck, limit: Int, _ found: inout [StoreFinding]
    ) async throws(SyncError) {
      do throws(SyncError) {
        found += try await readers.run { connection, _ throws(SyncError) -> [StoreFinding] in
          try connection.stoppingWithTask { () throws(SyncError) in
            try connection.transaction(.read) { () throws(SyncError) -> [StoreFinding] in
              try connection.demandKnownLayout()
              return try check.findings(connection, limit)
            }
          }
        }
      } catch {
        found.append(try check.finding(of: error))
      }
    }
  }

  extension FormatCheck {
    /// What the failure of the check tells of the store.
    ///
    /// - Throws: `cancelled` once the task is cancelled; a failure that tells nothing.
    fileprivate func finding(of error: SyncError) throws(SyncError) -> StoreFinding {
      if Task.isCancelled {
        throw SyncError(.cancelled, during: "verifying the store", "The verification was stopped.")
      }
      guard error.isOfDamagedStore else { throw error }
      return StoreFinding(part, type: type, "\(subject) cannot be read: \(error.message)")
    }

    /// Returns the first contradiction in a file; `nil` if it is sound.
    ///
    /// Within a transaction. The log is not checked. In a file of an earlier layout, only the pages
    /// and indexes are.
    ///
    /// - Throws: `cancelled` once the task is cancelled.
    /// - Complexity: O(*n* log *n*) in the rows and index entries of the file.
    static func firstContradiction(in connection: Connection) throws(SyncError) -> StoreFinding? {
      let types = Mutex<[Entity]>([])
      let declarations = FormatCheck.declarations { entities in types.withLock { $0 = entities } }
      let isNewest = try connection.value("PRAGMA user_version") == Int64(connection.newestLayout)
      for check in ofPages + (isNewest ? [declarations] + ofTables : []) {
        if let finding = try check.firstFinding(in: connection) { return finding }
      }
      for check in types.withLock({ $0 }).flatMap({ FormatCheck.of($0) }) {
        if let finding = try check.firstFinding(in: connection) { return finding }
      }
      return nil
    }

    private func firstFinding(in connection: Connection) throws(SyncError) -> StoreFinding? {
      do throws(SyncError) {
        return try connection.stoppingWithTask { () throws(SyncError) in
          try findings(connection, 1).first
        }
      } catch {
        return try finding(of: error)
      }
    }
  }

  extension Connection {
    /// Runs a body whose statements fail once the task is cancelled.
    func stoppingWithTask<R>(_ body: () throws(SyncError) -> R) throws(SyncError) -> R {
      sqlite3_progress_handler(handle, 10_000, { _ in Task.isCancelled ? 1 : 0 }, nil)
      defer { sqlite3_progress_handler(handle, 0, nil, nil) }
      return try body()
    }
  }
#endif
