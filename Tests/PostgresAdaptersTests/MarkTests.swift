#if Postgres
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncTestPostgres
  import InMemoryAdapters
  import PostgresAdapters
  import Testing

  @Suite("Marks of a listing", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct MarkTests {
    private func ids(_ keys: [String]) -> [RecordID] { keys.map { RecordID(type: "games", key: $0) } }

    /// Puts records whose rows have numbers from some number on.
    private func put(_ keys: [String], from number: Int, in store: PostgresStore, _ schema: String)
      async throws
    {
      try Database.run("ALTER TABLE \(schema).rows_games ALTER COLUMN row RESTART WITH \(number)")
      try await store.put(try keys.map { try Games.record($0) })
    }

    private func unmarked(_ snapshot: any StoreSnapshot) throws(SyncError) -> [String] {
      let keys = try snapshot.rows("games", .unmarked, after: nil, limit: 99).map(\.id.key)
      let all = try snapshot.rows("games", .all, after: nil, limit: 99)
      #expect(all.filter { !$0.isMarked && $0.record != nil }.map(\.id.key) == keys)
      #expect(try snapshot.counts("games", rows: true).rows?.unmarked == keys.count)
      let states = try snapshot.states(of: all.map(\.id), comparing: [])
      #expect(states.map { $0?.isMarked } == all.map(\.isMarked))
      return keys
    }

    @Test func areFoundInChunksWithGaps() async throws {
      try await Games.withStore { store, schema in
        // A chunk has 4,096 rows. Two chunks have none of these records.
        try await put(["a", "b"], from: 7, in: store, schema)
        try await put(["c", "d"], from: 4095, in: store, schema)
        try await put(["e", "f"], from: 3 * 4096, in: store, schema)
        try await store.write(.app) { (transaction) throws(SyncError) in
          try transaction.mark(ids(["f", "d", "a"]))
          #expect(try unmarked(transaction) == ["b", "c", "e"])
        }
        #expect(
          try Database.run("SELECT string_agg(chunk::text, ' ' ORDER BY chunk) FROM \(schema).marks")
            == "0 1 3")
        #expect(
          try await store.read { (snapshot) throws(SyncError) in try unmarked(snapshot) } == ["b", "c", "e"])
        // A later transaction adds to the same chunks.
        try await store.write(.app) { (transaction) throws(SyncError) in try transaction.mark(ids(["b"])) }
        #expect(
          try await store.read { (snapshot) throws(SyncError) in try unmarked(snapshot) } == ["c", "e"])
        try await store.write(.app) { (transaction) throws(SyncError) in
          try transaction.mark(ids(["c"]))
          try transaction.clearMarks("games")
          try transaction.mark(ids(["e"]))
        }
        #expect(
          try await store.read { (snapshot) throws(SyncError) in try unmarked(snapshot) } == [
            "a", "b", "c", "d", "f",
          ])
        #expect(try Database.run("SELECT string_agg(chunk::text, ' ') FROM \(schema).marks") == "3")
      }
    }

    /// Each insertion takes a number, also one that is rolled back.
    @Test func areFoundInRowsWithGreatNumbers() async throws {
      try await Games.withStore { store, schema in
        try await put(["a", "b"], from: 7, in: store, schema)
        try await put(["c", "d"], from: 1 << 35, in: store, schema)
        try await store.write(.app) { (transaction) throws(SyncError) in
          try transaction.mark(ids(["d", "a"]))
          #expect(try unmarked(transaction) == ["b", "c"])
        }
        #expect(
          try await store.read { (snapshot) throws(SyncError) in try unmarked(snapshot) } == ["b", "c"])
      }
    }

    @Test func areThereForRecordsNewToTheStore() async throws {
      try await Games.withStore { store, _ in
        try await store.put(try Games.record("b"))
        try await store.write(.app) { (transaction) throws(SyncError) in
          // In another order, some looked up before, twice, and some unknown.
          _ = try transaction.states(of: ids(["c", "b", "c"]), comparing: [])
          var changes = StoreChanges()
          changes.put = try ["a", "b", "c", "d"].map { (key) throws(SyncError) in
            try Games.record(key, version: 2)
          }
          changes.deleted = [
            Tombstone(
              id: ids(["x"])[0], version: Version(sequence: 2, modifiedAt: Timestamp(milliseconds: 2)))
          ]
          changes.marked = ids(["x", "c", "none", "b", "a"])
          try transaction.apply(changes)
          #expect(try unmarked(transaction) == ["d"])
        }
        let state = try await store.read { (snapshot) throws(SyncError) in
          try snapshot.states(of: ids(["x", "none"]), comparing: [])
        }
        #expect(state.map { $0?.isMarked } == [true, nil])
      }
    }

    @Test func ofAnEarlierLayoutStay() async throws {
      try await Database.withSchema { schema in
        let address = try PostgresAddress("\(Database.address)?schema=\(schema)")
        let former = try await PostgresStore.open(address)
        try await former.register(try Games.schema())
        try await former.put(try Games.record("a"), try Games.record("b"), try Games.record("c"))
        await former.close()
        // The former layout had the number of the listing in each row, and no digests.
        try Database.run(
          """
          UPDATE \(schema).rows_games SET round = 1 WHERE id <> 'b'; DROP TABLE \(schema).marks; \
          ALTER TABLE \(schema).rows_games DROP COLUMN digest; \
          ALTER TABLE \(schema).store DROP COLUMN digest_key; UPDATE \(schema).store SET layout = 2
          """)
        let store = try await PostgresStore.open(address)
        #expect(try Database.run("SELECT layout FROM \(schema).store") == "\(Migration.all.count)")
        try await store.register(try Games.schema())
        #expect(try await store.read { (snapshot) throws(SyncError) in try unmarked(snapshot) } == ["b"])
        try await store.write(.app) { (transaction) throws(SyncError) in
          try transaction.clearMarks("games")
          try transaction.mark(ids(["c"]))
        }
        #expect(
          try await store.read { (snapshot) throws(SyncError) in try unmarked(snapshot) } == ["a", "b"])
        await store.close()
      }
    }

    @Test func writeNoRowThatStaysAsItIs() async throws {
      try await Database.withSchema { schema in
        let store = try await Database.open(schema)
        let remote = InMemoryRemote()
        for number in 0..<1000 { remote.upsert("games", "g\(number)", #"{"v":\#(number)}"#) }
        let engine = try await SyncEngine(
          schema: try SyncSchema(Entity("games", indexes: ["v"])), store: store, source: remote,
          options: SyncOptions(pageSize: 100))
        #expect(try await engine.sync().total.inserted == 1000)
        let versions =
          "SELECT string_agg(ctid::text || xmin::text || id::text, ',' ORDER BY id) FROM \(schema).rows_games"
        let before = try Database.run(versions)
        #expect(try Database.run("SELECT count(*) FROM \(schema).marks") == "0")
        #expect(try await engine.resync().total.unchanged == 1000)
        #expect(try Database.run(versions) == before)
        #expect(try Database.run("SELECT count(*) FROM \(schema).marks") == "1")
        await store.close()
      }
    }
  }
#endif
