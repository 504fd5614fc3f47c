#if Postgres
  import CanonicalSync
  import CanonicalSyncTestPostgres
  import InMemoryAdapters
  import PostgresAdapters
  import SyncAdapters
  import Synchronization
  import Testing

  @Suite("Reading one record", .enabled(if: Database.isThere), .timeLimit(.minutes(5)))
  struct OneRecordTests {
    @Test func isOneStatement() async throws {
      try await Games.withStore(.init(readerCount: 1)) { store, _ in
        let engine = try await SyncEngine(
          schema: try Games.schema(), store: store, source: InMemoryRemote())
        try await store.put(Games.record("a", #"{"v":1}"#), Games.record("b", #"{"v":2}"#))
        // The first read of a connection begins a transaction.
        #expect(try await engine.records.find(Game.self, key: "a")?.value.v == 1)
        for (key, value) in [("a", 1), ("b", 2)] {
          let count = try await store.statements {
            let found = try await engine.records.find(Game.self, key: key)
            #expect(found?.value.v == value)
          }
          #expect(count == 1)
        }
        for _ in 0..<5 { #expect(try await engine.records.find(Game.self, key: "c") == nil) }
        // Another connection's commit is seen at once.
        try await store.put(Games.record("a", #"{"v":3}"#, version: 2))
        #expect(try await engine.records.find(Game.self, key: "a")?.value.v == 3)
        try await engine.edits.delete(RecordID(type: "games", key: "a"))
        #expect(try await engine.records.find(Game.self, key: "a") == nil)
        // A pending edit's state is a second statement, in one transaction with the first.
        try await engine.edits.upsert(Game(v: 4), key: "b")
        let found = try await engine.records.find(Game.self, key: "b")
        #expect(found?.value.v == 4 && found?.edit != nil)
      }
    }

    /// A table that was just filled has no statistics.
    @Test func takesTheIndexBeforeTheServerHasStatistics() async throws {
      try await Games.withStore(.init(readerCount: 1)) { store, schema in
        _ = try Database.run("ALTER TABLE \"\(schema)\".rows_games SET (autovacuum_enabled = off)")
        try await store.put((0..<3000).map { number throws(SyncError) in try Games.record("g\(number)") })
        let scans = """
          SELECT seq_scan + coalesce(idx_scan, 0), seq_tup_read FROM pg_stat_user_tables \
          WHERE schemaname = '\(schema)' AND relname = 'rows_games'
          """
        func counts() throws -> [Int] {
          try Database.run(scans).split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
        }
        let ids = (0..<8).map { RecordID(type: "games", key: "g\($0 * 300)") }
        // The server counts some time after a transaction's end.
        let end = ContinuousClock.now + .seconds(60)
        let before = try counts()
        var after = before
        while after[0] < before[0] + 8, ContinuousClock.now < end {
          let found = try await store.read { (snapshot) throws(SyncError) in
            try snapshot.records(withIDs: ids)
          }
          #expect(found.map { $0?.id } == ids)
          try await Task.sleep(for: .milliseconds(200))
          after = try counts()
        }
        #expect(after[0] >= before[0] + 8)
        #expect(after[1] - before[1] < 3000)
      }
    }

    @Test func andThenMoreSeesOneState() async throws {
      try await Games.withStore(.init(readerCount: 1)) { store, schema in
        try await store.put(Games.record("a", #"{"v":0}"#), Games.record("b", #"{"v":0}"#))
        let other = try await Database.open(schema)
        try await other.register(try Games.schema())
        let (a, b) = (RecordID(type: "games", key: "a"), RecordID(type: "games", key: "b"))
        var runs: [Int] = []
        for round in 0..<40 {
          let entered = Atomic(0)
          let writes = AsyncStream<Void>.makeStream()
          async let writing: Void = {
            for await _ in writes.stream {
              let version = Int64(round + 2)
              try await other.put(
                Games.record("a", #"{"v":\#(round + 1)}"#, version: version),
                Games.record("b", #"{"v":\#(round + 1)}"#, version: version))
              return
            }
          }()
          let (first, second) = try await store.read { (snapshot) throws(SyncError) in
            entered.add(1, ordering: .relaxed)
            let first = try snapshot.records(withIDs: [a])[0]
            writes.continuation.yield()
            // The other server commits between the two reads.
            if round.isMultiple(of: 4) { Self.pause() }
            return (first, try snapshot.records(withIDs: [b])[0])
          }
          try await writing
          #expect(first?.payload == second?.payload)
          runs.append(entered.load(ordering: .relaxed))
        }
        // It soon expects more than one record, and no longer runs bodies twice.
        #expect(runs.reduce(0, +) <= 40 + 5)
        await other.close()
      }
    }

    private static func pause() {
      let end = ContinuousClock.now + .milliseconds(30)
      while ContinuousClock.now < end {}
    }
  }
#endif
