#if Postgres
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncTestPostgres
  import PostgresAdapters
  import Testing

  @Suite("The outbox in PostgreSQL", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct OutboxTests {
    /// Other programs write to databases too.
    @Test(arguments: [
      "attempts = -1", "attempts = 9223372036854775807", "state = 'x'", "base = 'x'", "sent = 'x'",
    ])
    func refusesAnEntryThatTheLibraryHasNotWritten(_ change: String) async throws {
      try await Games.withStore { store, schema in
        let record = try Games.record("a")
        let stamp = EditStamp(physical: Timestamp(milliseconds: 1))
        let edit = Edit(.upsert(record.payload, schemaVersion: 1), stamp: stamp)
        try await store.write(.app) { (transaction) throws(SyncError) in
          try transaction.put([record])
          try transaction.queue([OutboxEntry(id: record.id, edit: edit, base: .copy(record))])
        }
        try Database.run("UPDATE \(schema).outbox SET \(change)")
        let error = await #expect(throws: SyncError.self) {
          try await store.read { (snapshot) throws(SyncError) in try snapshot.outbox(for: [record.id]) }
        }
        #expect(error?.code == .storeUnreadable)
      }
    }
  }
#endif
