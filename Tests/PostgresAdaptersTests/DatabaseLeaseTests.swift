#if Postgres
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncTestPostgres
  import PostgresAdapters
  import Testing

  @Suite("The lease in a database", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct DatabaseLeaseTests {
    @Test func ofADeadHolderIsFreeAtOnce() async throws {
      try await Database.withSchema { schema in
        let (a, b) = (try await Database.open(schema), try await Database.open(schema))
        for store in [a, b] { try await store.register(try Games.schema()) }
        let lease = try await a.acquireLease(for: .seconds(600))
        var error = await #expect(throws: SyncError.self) { try await b.acquireLease(for: .seconds(600)) }
        #expect(error?.code == .syncAlreadyInProgress)
        try Database.run(
          "SELECT pg_terminate_backend(split_part(holder, 'process ', 2)::int) FROM \"\(schema)\".store")
        // The server needs a moment to end the session. The lease lasts longer.
        let start = ContinuousClock.now
        var next: Lease?
        while next == nil, ContinuousClock.now - start < .seconds(60) {
          next = try? await b.acquireLease(for: .seconds(600))
          if next == nil { try await Task.sleep(for: .milliseconds(20)) }
        }
        let taken = try #require(next)
        #expect(taken.fence > lease.fence)
        let again = try await Database.open(schema)
        error = await #expect(throws: SyncError.self) {
          try await again.write(.lease(lease)) { (transaction) throws(SyncError) in try transaction.put([]) }
        }
        #expect(error?.code == .leaseLost)
        for store in [a, b, again] { await store.close() }
      }
    }

    @Test func ofAClosedStoreIsFreeAtOnce() async throws {
      try await Database.withSchema { schema in
        let next = try await Database.open(schema)
        try await next.register(try Games.schema())
        for _ in 0..<50 {
          let store = try await Database.open(schema)
          _ = try await store.acquireLease(for: .seconds(600))
          await store.close()
          // In one attempt, although the server ends a session some time after its client.
          try await next.release(try await next.acquireLease(for: .seconds(600)))
        }
        await next.close()
      }
    }

    private static func serverTime() throws -> Int64 {
      try #require(
        Int64(try Database.run("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")))
    }

    @Test func endsByTheServersClock() async throws {
      try await Database.withSchema { schema in
        let (a, b) = (try await Database.open(schema), try await Database.open(schema))
        for store in [a, b] { try await store.register(try Games.schema()) }
        let before = try Self.serverTime()
        let lease = try await a.acquireLease(for: .milliseconds(300))
        #expect((before...(try Self.serverTime())).contains(lease.expiresAt.microseconds - 300_000))
        try await Task.sleep(for: .milliseconds(400))
        _ = try await b.acquireLease(for: .seconds(60))
        let error = await #expect(throws: SyncError.self) {
          try await a.write(.lease(lease)) { (transaction) throws(SyncError) in
            try transaction.put([Games.record("a")])
          }
        }
        #expect(error?.code == .leaseLost)
        await a.close()
        await b.close()
      }
    }

    @Test func forgetsTheWritersOfFormerProcesses() async throws {
      try await Database.withSchema { schema in
        let (a, b) = (try await Database.open(schema), try await Database.open(schema))
        for store in [a, b] { try await store.register(try Games.schema()) }
        for store in [a, b] { try await store.put(Games.record("a")) }
        try Database.run("UPDATE \(schema).commits SET at = now() - interval '2 days'")
        try Database.run("INSERT INTO \(schema).commits VALUES ('new', 1, now()), ('old', 1, '2020-01-01')")
        // Both write under their leases, although each may find that the other one's entry is gone.
        for (store, key) in [(a, "b"), (b, "c"), (a, "d")] {
          let lease = try await store.acquireLease(for: .seconds(600))
          try await store.write(.lease(lease)) { (transaction) throws(SyncError) in
            try transaction.put([Games.record(key)])
          }
          try await store.release(lease)
        }
        #expect(try await a.keys() == ["a", "b", "c", "d"])
        #expect(
          try Database.run("SELECT count(*), count(*) FILTER (WHERE writer = 'old') FROM \(schema).commits")
            == "3|0")
        await a.close()
        await b.close()
      }
    }
  }
#endif
