#if SQLite
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
        if Task.isCancelled {
          throw SyncError(.cancelled, during: "verifying the store", "The verification was stopped.")
        }
        try await run(check, limit: limit - found.count, &found)
      }
      return found
    }

    private func run(
      _ check: FormatCheck, limit: Int, _ found: inout [StoreFinding]
    ) async throws(SyncError) {
      do throws(SyncError) {
        found += try await readers.run { connection, _ throws(SyncError) -> [StoreFinding] in
          try connection.transaction(.read) { () throws(SyncError) -> [StoreFinding] in
            try connection.demandKnownLayout()
            return try check.findings(connection, limit)
          }
        }
      } catch {
        switch error.code {
        case .storeUnreadable, .storeFailure:
          found.append(
            StoreFinding(check.part, type: check.type, "\(check.subject) cannot be read: \(error.message)"))
        default: throw error
        }
      }
    }
  }
#endif
