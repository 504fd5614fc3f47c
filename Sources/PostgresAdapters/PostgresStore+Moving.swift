#if Postgres
  package import SyncModels
  import SyncPorts

  extension PostgresStore: MovableStore {
    /// Refuses edits and syncs from now on, or takes them again.
    package func retire(movedTo place: String?) async throws(SyncError) {
      try await update("moved_to", place)
    }

    /// The place where the store has moved; `nil` for a store in use.
    package func placeMovedTo() async throws(SyncError) -> String? {
      let context = context
      return try await writer.run { connection throws(SyncError) -> String? in
        try connection.read(context) { (snapshot) throws(SyncError) in snapshot.placeMovedTo }
      }
    }

    /// Takes the identity of the store that this one is a copy of.
    package func adopt(identity: String) async throws(SyncError) {
      try await update("identity", identity)
    }

    private func update(_ column: String, _ text: String?) async throws(SyncError) {
      let context = context
      try await writer.run { connection throws(SyncError) in
        try connection.change(context) { (_) throws(SyncError) in
          connection.enqueue(Statement("UPDATE store SET \(column) = $1::text") { $0.add(text: text) })
        }
      }
    }
  }
#endif
