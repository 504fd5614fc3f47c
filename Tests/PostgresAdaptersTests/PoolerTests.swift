#if Postgres
  import CanonicalSyncTestPostgres
  import PostgresAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite(
    "Behind a pooler", .enabled(if: Pooler.isThere, "PgBouncer is not installed; Tests/needs pgbouncer"),
    .timeLimit(.minutes(5)))
  struct PoolerTests {
    @Test(arguments: ["transaction", "statement"])
    func thatLendsSessionsAStoreIsRefusedByName(_ mode: String) async throws {
      try await Database.withSchema { schema in
        let pooler = try await Pooler(mode)
        defer { pooler.stop() }
        let address = try PostgresAddress("\(pooler.address)?schema=\(schema)")
        let error = await #expect(throws: SyncError.self) { try await PostgresStore.open(address).close() }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("pool_mode = transaction") == true)
        #expect(try Database.run("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == "0")
      }
    }

    @Test func thatKeepsSessionsStoresStayApart() async throws {
      try await Database.withSchemas(2) { schemas in
        let pooler = try await Pooler("session")
        defer { pooler.stop() }
        for schema in schemas {
          // One after another in the same sessions.
          let store = try await PostgresStore.open(
            try PostgresAddress("\(pooler.address)?schema=\(schema)"))
          try await store.register(try Games.schema())
          try await store.put(Games.record(schema))
          var changes = store.changes().makeAsyncIterator()
          #expect(await changes.next()?.scope == .records([]))
          try await store.release(try await store.acquireLease(for: .seconds(60)))
          #expect(try await store.keys() == [schema])
          await store.close()
        }
      }
    }
  }

  @Suite("Sessions that others use", .enabled(if: Database.isThere), .timeLimit(.minutes(5)))
  struct LentSessionTests {
    /// What runs after a transaction in the session of a store's writer, as by a pooler.
    private func change(the session: String, of schema: String, after store: PostgresStore) async throws {
      try Database.run(
        """
        CREATE OR REPLACE FUNCTION \(schema).lend() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
        PERFORM \(session); RETURN NEW; END $$; \
        CREATE CONSTRAINT TRIGGER lend AFTER INSERT ON \(schema).kept DEFERRABLE INITIALLY DEFERRED \
        FOR EACH ROW EXECUTE FUNCTION \(schema).lend()
        """)
      try await store.write(.app) { (transaction) throws(SyncError) in
        try transaction.setValue([1], forKey: "before")
      }
    }

    @Test(arguments: [
      "set_config('search_path', '%', false)", "set_config('canonicalsync.session', 'x', false)",
    ])
    func areRefusedBeforeAnotherStoreIsReadOrWritten(_ session: String) async throws {
      try await Database.withSchemas(2) { schemas in
        let other = try await Database.open(schemas[1])
        try await other.register(try Games.schema())
        try await other.put(Games.record("theirs"))
        let ways: [(String, (PostgresStore) async throws -> Void)] = [
          ("put", { try await $0.put(Games.record("a")) }),
          (
            "keep a value",
            {
              try await $0.write(.app) { (transaction) throws(SyncError) in
                try transaction.setValue([2], forKey: "after")
              }
            }
          ),
          ("acquireLease", { _ = try await $0.acquireLease(for: .seconds(60)) }),
          ("release", { try await $0.release(Lease(fence: 0, expiresAt: Timestamp(microseconds: 0))) }),
          ("retire", { try await $0.retire(movedTo: "elsewhere") }),
          ("placeMovedTo", { _ = try await $0.placeMovedTo() }),
        ]
        let state = """
          SELECT store::text, (SELECT string_agg(k::text, ' ') FROM \(schemas[1]).kept AS k), \
          (SELECT string_agg(r::text, ' ') FROM \(schemas[1]).rows_games AS r) FROM \(schemas[1]).store
          """
        let before = try Database.run(state)
        for (name, way) in ways {
          let store = try await Database.open(schemas[0])
          try await store.register(try Games.schema())
          try Database.run(
            "DROP TRIGGER IF EXISTS lend ON \(schemas[0]).kept; DELETE FROM \(schemas[0]).kept")
          try await change(
            the: session.replacing("%", with: schemas[1]), of: schemas[0], after: store)
          let error = await #expect(throws: SyncError.self, "\(name)") { try await way(store) }
          #expect(
            error?.message.contains("pooler") == true || name == "release", "\(name): \(error?.message ?? "")"
          )
          await store.close()
        }
        #expect(try Database.run(state) == before)
        await other.close()
      }
    }
  }
#endif
