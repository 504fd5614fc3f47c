#if SQLite
  import CanonicalSyncDatabases
  package import SyncModels
  import SyncPorts

  extension SQLiteStore: MovableStore {
    /// Refuses edits and syncs from now on, or takes them again.
    package func retire(movedTo place: String?) async throws(SyncError) {
      try await writer.run { connection throws(SyncError) in
        try connection.transaction(.write, flushes: true) { () throws(SyncError) in
          try connection.demandKnownLayout()
          if let place {
            try connection.run("INSERT OR REPLACE INTO meta VALUES ('moved', ?)", .text(place))
          } else {
            try connection.run("DELETE FROM meta WHERE key = 'moved'")
          }
          // All connections read the catalog again, and the place with it.
          try connection.bumpCatalog()
        }
      }
    }

    /// The place where the store has moved; `nil` for a store in use.
    package func placeMovedTo() async throws(SyncError) -> String? {
      try await writer.run { connection throws(SyncError) -> String? in
        try connection.transaction(.read) { () throws(SyncError) -> String? in
          try connection.demandKnownLayout()
          return try connection.placeMovedTo()
        }
      }
    }

    /// Takes the identity of the store that this one is a copy of.
    package func adopt(identity: String) async throws(SyncError) {
      try await writer.run { connection throws(SyncError) in
        try connection.transaction(.write, flushes: true) { () throws(SyncError) in
          try connection.demandKnownLayout()
          try connection.run("UPDATE meta SET value = ? WHERE key = 'identity'", .text(identity))
        }
      }
    }
  }

  extension Connection {
    func placeMovedTo() throws(SyncError) -> String? {
      let statement = try meta("moved")
      defer { statement.reset() }
      return try statement.step() ? statement.text(0) : nil
    }

    /// Refuses a store that has moved.
    func demandPlace(_ movedTo: String?) throws(SyncError) {
      guard let movedTo else { return }
      throw SyncError(
        .storeReadOnly, during: "writing to the store",
        "The store has moved to \(movedTo); open it there. This copy takes no edits and no syncs.")
    }
  }
#endif
