#if Postgres
  import CanonicalSyncTestPostgres
  import Foundation
  import PostgresAdapters
  import SyncConformance
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("Stores of a pool", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct PoolTests {
    @Test(arguments: LocalStoreCheck.allCases)
    func keepThePromisesOfALocalStore(_ check: LocalStoreCheck) async throws {
      try await Self.withHarness(at: Database.address) { harness in
        let outcome = try await check.run(on: harness)
        #expect(outcome == .kept, "\(outcome)")
      }
    }

    @Test(arguments: SharedStoreCheck.allCases)
    func keepThoseOfASharedStore(_ check: SharedStoreCheck) async throws {
      try await Self.withHarness(at: Database.address) { harness in
        let outcome = try await check.run(on: harness)
        #expect(outcome == .kept, "\(outcome)")
      }
    }

    /// Each handle is a store of a pool of its own, as in another process.
    static func withHarness(
      at address: String, _ body: (LocalStoreHarness) async throws -> Void
    ) async throws {
      try await StoreConformanceTests.withHarness(body) { schema, configuration in
        let pool = try PostgresPool(
          PostgresAddress(address), configuration: .init(connectionCount: 3, store: configuration))
        return try pool.store(inSchema: schema)
      }
    }

    /// An address whose connections can be counted.
    private static func address(_ name: String) throws -> PostgresAddress {
      try PostgresAddress("\(Database.address)?application_name=\(name)")
    }

    private static func connections(_ name: String) throws -> Int {
      Int(try Database.run("SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(name)'")) ?? 0
    }

    @Test func manyStayApartOnAFewConnections() async throws {
      let name = "pool-\(UUID().uuidString.prefix(8))"
      try await Database.withSchemas(60) { schemas in
        let pool = try PostgresPool(
          Self.address(name), configuration: .init(connectionCount: 4, cachedStores: 20))
        let stores = try schemas.map { try pool.store(inSchema: $0) }
        #expect(try Self.connections(name) == 0)
        #expect((pool.occupancy.busy, pool.occupancy.stores) == (0, 60))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
          for (schema, store) in zip(schemas, stores) {
            tasks.addTask {
              try await store.register(try Games.schema())
              for round in 0..<5 {
                try await store.put(Games.record(schema, #"{"v":\#(round)}"#, version: Int64(round)))
                #expect(try await store.keys() == [schema])
              }
            }
          }
          try await tasks.waitForAll()
        }
        #expect(try Self.connections(name) <= 4)
        #expect(try pool.store(inSchema: schemas[0]) === stores[0])
        await pool.close()
        #expect(throws: SyncError.self) { try pool.store(inSchema: schemas[0]) }
        await #expect(throws: SyncError.self) { try await stores[0].keys() }
      }
    }

    @Test func oneConnectionTellsOfAllThatAreFollowed() async throws {
      let name = "pool-\(UUID().uuidString.prefix(8))"
      try await Database.withSchemas(30) { schemas in
        let pool = try PostgresPool(Self.address(name), configuration: .init(connectionCount: 3))
        var followed: [(store: PostgresStore, changes: PostgresChanges, iterator: PostgresChanges.Iterator)] =
          []
        for schema in schemas {
          let store = try pool.store(inSchema: schema)
          try await store.register(try Games.schema())
          let changes = store.changes()
          followed.append((store, changes, changes.makeAsyncIterator()))
        }
        for place in followed.indices {
          #expect(
            await followed[place].iterator.next()?.scope == .records([]),
            "\(String(describing: followed[place].changes.failure))")
        }
        #expect(try Self.connections(name) <= 4)
        // One store that is gone ends its own followers alone.
        try Database.run(
          """
          ALTER TABLE \(schemas[7]).changes RENAME TO gone; INSERT INTO \(schemas[7]).commits VALUES ('x', 1, now()); \
          UPDATE \(schemas[7]).store SET position = position + 1
          """)
        let channel = "canonicalsync_" + String(ContentDigest.of(schemas[7]), radix: 16)
        try Database.run("SELECT pg_notify('\(channel)', '')")
        #expect(await followed[7].iterator.next() == nil)
        #expect(followed[7].changes.failure?.code == .storeUnreadable)
        for place in followed.indices where place != 7 {
          try await followed[place].store.put(Games.record("a\(place)"))
          let id = try Games.record("a\(place)").id
          #expect(await followed[place].iterator.next()?.scope == .records([id]))
        }
        await pool.close()
        #expect(await followed[0].iterator.next() == nil)
      }
    }

    @Test func aLeaseEndsWithItsTimeAndIsKeptFromOthers() async throws {
      try await Database.withSchema { schema in
        let pool = try PostgresPool(PostgresAddress(Database.address))
        let pooled = try pool.store(inSchema: schema)
        try await pooled.register(try Games.schema())
        let own = try await Database.open(schema)
        let lease = try await pooled.acquireLease(for: .milliseconds(1500))
        for store in [
          own, pooled, try PostgresPool(PostgresAddress(Database.address)).store(inSchema: schema),
        ] {
          let error = await #expect(throws: SyncError.self) {
            try await store.acquireLease(for: .seconds(60))
          }
          #expect(error?.code == .syncAlreadyInProgress)
          #expect(error?.message.contains("in a pool is syncing") == true, "\(error?.message ?? "")")
        }
        // Its holder dies, which only time tells.
        await pool.close()
        try await Task.sleep(for: .milliseconds(1600))
        let next = try await own.acquireLease(for: .seconds(60))
        #expect(next.fence > lease.fence)
        // A dead session tells at once.
        await own.close()
        let other = try PostgresPool(PostgresAddress(Database.address))
        let last = try await other.store(inSchema: schema).acquireLease(for: .seconds(60))
        try await other.store(inSchema: schema).release(last)
        await other.close()
      }
    }

    @Test func aLongReadKeepsOneStoreFromNoOther() async throws {
      try await Database.withSchemas(2) { schemas in
        let pool = try PostgresPool(
          PostgresAddress(Database.address),
          configuration: .init(connectionCount: 2, store: .init(readerCount: 1)))
        let stores = try schemas.map { try pool.store(inSchema: $0) }
        for store in stores { try await store.register(try Games.schema()) }
        let (entered, left) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
        async let reading: Void = stores[0].read { (_) throws(SyncError) in
          entered.continuation.finish()
          left.wait()
        }
        for await _ in entered.stream {}
        let waiting = Task { try await stores[0].keys() }
        #expect(try await stores[1].keys() == [])
        waiting.cancel()
        let error = await #expect(throws: SyncError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        // What ends a sync has to be written although its task was cancelled.
        let writing = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          try await stores[0].put(Games.record("a"))
        }
        try await writing.value
        left.signal()
        try await reading
        #expect(try await stores[0].keys() == ["a"])
        await pool.close()
      }
    }

    @Test func lostConnectionsAreOpenedAgain() async throws {
      let cluster = try ThrowawayCluster()
      defer { cluster.stop() }
      let pool = try PostgresPool(PostgresAddress(cluster.address), configuration: .init(connectionCount: 2))
      let stores = try ["a", "b", "c"].map { try pool.store(inSchema: $0) }
      for store in stores { try await store.register(try Games.schema()) }
      var changes = stores[0].changes().makeAsyncIterator()
      #expect(await changes.next()?.scope == .records([]))
      for round in 0..<3 {
        for (place, store) in stores.enumerated() {
          try await store.put(Games.record("\(place)-\(round)"))
          if place == 1 { try cluster.cutConnections() }
        }
      }
      for (place, store) in stores.enumerated() {
        #expect(try await store.keys() == (0..<3).map { "\(place)-\($0)" })
      }
      var heard: Set<RecordID> = []
      while heard.count < 3 {
        guard case .records(let ids) = await changes.next()?.scope else { break }
        heard.formUnion(ids)
      }
      #expect(Set(heard.map(\.key)) == ["0-0", "0-1", "0-2"])
      await pool.close()
    }

    @Test func aSizeThatCannotBeIsRefused() throws {
      for configuration in [PostgresPool.Configuration(connectionCount: 0), .init(cachedStores: -1)] {
        let error = #expect(throws: SyncError.self) {
          try PostgresPool(PostgresAddress(Database.address), configuration: configuration)
        }
        #expect(error?.code == .invalidConfiguration)
      }
      let pool = try PostgresPool(PostgresAddress(Database.address))
      let error = #expect(throws: SyncError.self) { try pool.store(inSchema: "pg_catalog") }
      #expect(error?.code == .invalidConfiguration)
    }

    @Test func aReadOnlyPoolMakesNoStore() async throws {
      try await Database.withSchema { schema in
        let pool = try PostgresPool(
          PostgresAddress(Database.address), configuration: .init(store: .init(isReadOnly: true)))
        let store = try pool.store(inSchema: schema)
        let error = await #expect(throws: SyncError.self) { try await store.keys() }
        #expect(error?.code == .storeFailure)
        let own = try await Database.open(schema)
        try await own.register(try Games.schema())
        try await own.put(Games.record("a"))
        try await store.register(try Games.schema())
        #expect(try await store.keys() == ["a"])
        await own.close()
        await pool.close()
      }
    }
  }

  @Suite(
    "Stores of a pool behind PgBouncer", .enabled(if: Pooler.isThere, "PgBouncer is not installed"),
    .timeLimit(.minutes(10)))
  struct PooledPoolTests {
    // In parts, each with a pooler, because a slow machine takes minutes for all of them.
    @Test(arguments: 0..<4)
    func keepThePromisesOfALocalStore(_ part: Int) async throws {
      let pooler = try await Pooler("transaction")
      defer { pooler.stop() }
      for (place, check) in LocalStoreCheck.allCases.enumerated() where place % 4 == part {
        try await PoolTests.withHarness(at: pooler.address) { harness in
          let outcome = try await check.run(on: harness)
          #expect(outcome == .kept, "\(check): \(outcome)")
        }
      }
    }

    @Test func stayApartInSessionsThatAreLent() async throws {
      try await Database.withSchemas(12) { schemas in
        let pooler = try await Pooler("transaction", sessions: 2)
        defer { pooler.stop() }
        // More connections than the pooler has sessions.
        let pool = try PostgresPool(PostgresAddress(pooler.address), configuration: .init(connectionCount: 6))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
          for schema in schemas {
            let store = try pool.store(inSchema: schema)
            tasks.addTask {
              try await store.register(try Games.schema())
              var changes = store.changes().makeAsyncIterator()
              #expect(await changes.next()?.scope == .records([]))
              let lease = try await store.acquireLease(for: .seconds(60))
              for round in 0..<5 {
                try await store.write(.lease(lease)) { (transaction) throws(SyncError) in
                  try transaction.put([Games.record(schema, #"{"v":\#(round)}"#, version: Int64(round))])
                }
                try await store.write(.app) { (transaction) throws(SyncError) in
                  try transaction.setValue([UInt8(round)], forKey: "round")
                }
                #expect(try await store.keys() == [schema])
              }
              #expect(await changes.next()?.scope == .records([try Games.record(schema).id]))
              try await store.release(lease)
            }
          }
          try await tasks.waitForAll()
        }
        await pool.close()
      }
    }

    @Test func thatLendsThemForStatementsIsRefusedByName() async throws {
      try await Database.withSchema { schema in
        let pooler = try await Pooler("statement")
        defer { pooler.stop() }
        let pool = try PostgresPool(PostgresAddress(pooler.address))
        let error = await #expect(throws: SyncError.self) {
          try await pool.store(inSchema: schema).register(try Games.schema())
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.contains("not for each statement alone") == true, "\(error?.message ?? "")")
        #expect(try Database.run("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == "0")
        await pool.close()
      }
    }
  }
#endif
