#if Postgres
  import CanonicalSyncTestPostgres
  import Foundation
  import PostgresAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("Opening a PostgreSQL store", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct OpeningTests {
    private func failure(
      _ address: String, _ configuration: PostgresStore.Configuration = .init()
    ) async throws -> SyncError {
      let error = await #expect(throws: SyncError.self) {
        let store = try await PostgresStore.open(try PostgresAddress(address), configuration: configuration)
        await store.close()
      }
      let found = try #require(error)
      let words = "\(found) \(String(describing: found.underlying))"
      #expect(!words.contains("wrong-secret"))
      return found
    }

    private func address(user: String = "postgres", database: String = "stores", schema: String) -> String {
      Database.address.replacing("postgres://postgres@", with: "postgres://\(user)@")
        .replacing("/stores", with: "/\(database)") + "?schema=\(schema)"
    }

    @Test func refusesAWrongPassword() async throws {
      let wrong = PostgresStore.Configuration(password: "wrong-secret")
      let error = try await failure(address(user: "guarded", schema: "s"), wrong)
      #expect(error.code == .authentication)
      let missing = try await failure(address(user: "guarded", schema: "s"))
      #expect(missing.code == .authentication || missing.code == .storeFailure)
      #expect(try await failure(address(user: "nemo", schema: "s")).code == .authentication)
    }

    @Test func refusesAMissingDatabaseOrServer() async throws {
      #expect(try await failure(address(database: "nowhere", schema: "s")).code == .invalidConfiguration)
      let error = try await failure("postgres://postgres@127.0.0.1:1/stores")
      #expect(error.code == .storeFailure)
      #expect(error.message.contains("cannot be reached"))
    }

    @Test func refusesARoleWithoutRights() async throws {
      try await Database.withSchema { schema in
        #expect(try await failure(address(user: "reader", schema: schema)).code == .permissionDenied)
        #expect(try Database.run("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == "0")
        let store = try await Database.open(schema)
        try await store.register(try Games.schema())
        try Database.run("GRANT USAGE ON SCHEMA \(schema) TO reader")
        try Database.run("GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO reader")
        let guest = try await PostgresStore.open(try PostgresAddress(address(user: "reader", schema: schema)))
        try await guest.register(try Games.schema())
        try await store.put(Games.record("a"))
        #expect(try await guest.keys() == ["a"])
        await #expect(throws: SyncError.self) { try await guest.put(Games.record("b")) }
        await guest.close()
        await store.close()
      }
    }

    @Test func makesNothingWhenItOnlyReads() async throws {
      try await Database.withSchema { schema in
        let error = try await failure(address(schema: schema), .init(isReadOnly: true))
        #expect(error.code == .storeFailure)
        #expect(try Database.run("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == "0")
      }
    }

    @Test func refusesAnotherApplicationsSchema() async throws {
      try await Database.withSchema { schema in
        try Database.run("CREATE SCHEMA \(schema); CREATE TABLE \(schema).store (id int)")
        #expect(try await failure(address(schema: schema)).code == .storeUnreadable)
        #expect(try Database.run("SELECT count(*) FROM pg_tables WHERE schemaname = '\(schema)'") == "1")
      }
    }

    @Test func refusesANewerLayout() async throws {
      try await Database.withSchema { schema in
        let store = try await Database.open(schema)
        try await store.register(try Games.schema())
        try Database.run("UPDATE \(schema).store SET layout = 99")
        #expect(try await failure(address(schema: schema)).code == .storeNewer)
        let error = await #expect(throws: SyncError.self) { try await store.put(Games.record("a")) }
        #expect(error?.code == .storeNewer)
        await store.close()
      }
    }

    /// A server with a newer version migrates a store that another one has open.
    @Test func noticesANewerLayoutInTheNextTransaction() async throws {
      try await Database.withSchema { schema in
        let older = try await Database.open(schema)
        try await older.register(try Games.schema())
        // The later calls begin with the store's row as these have left it.
        for value in UInt8(0)..<3 { try await older.setValue(value) }
        let lease = try await older.acquireLease(for: .seconds(600))
        try await older.setValue(3)
        #expect(try await older.keys() == [])
        let newer = try await PostgresStore.open(
          try PostgresAddress(address(schema: schema)), configuration: .init(),
          migrations: Migration.all + [Migration("future", ["CREATE TABLE future (a int)"])])
        let state =
          "SELECT store::text, (SELECT string_agg(kept::text, ' ') FROM \(schema).kept) FROM \(schema).store"
        let before = try Database.run(state)
        let calls: [(String, () async throws -> Void)] = [
          ("keep a value", { try await older.setValue(4) }),
          ("read", { _ = try await older.keys() }),
          ("write", { try await older.put(Games.record("a")) }),
          ("acquireLease", { _ = try await older.acquireLease(for: .seconds(1)) }),
          ("renew", { _ = try await older.renew(lease, for: .seconds(1)) }),
          ("register", { try await older.register(try SyncSchema(Entity("clubs"))) }),
          ("retire", { try await older.retire(movedTo: "elsewhere") }),
          ("placeMovedTo", { _ = try await older.placeMovedTo() }),
          ("adopt", { try await older.adopt(identity: "other") }),
        ]
        for (name, call) in calls + calls {
          let error = await #expect(throws: SyncError.self, "\(name)") { try await call() }
          #expect(error?.code == .storeNewer, "\(name)")
        }
        #expect(try Database.run(state) == before)
        try await older.release(lease)
        _ = try await newer.acquireLease(for: .seconds(1))
        await newer.close()
        await older.close()
      }
    }

    @Test func leavesTheLayoutBeforeAFailedStep() async throws {
      try await Database.withSchema { schema in
        let migrations = Migration.all + [Migration("broken", ["CREATE TABLE half (a int)", "no SQL"])]
        let address = try PostgresAddress(address(schema: schema))
        let error = await #expect(throws: SyncError.self) {
          try await PostgresStore.open(address, configuration: .init(), migrations: migrations)
        }
        #expect(error?.message.contains("Step \(migrations.count), \"broken\", failed") == true)
        #expect(try Database.run("SELECT layout FROM \(schema).store") == "\(Migration.all.count)")
        let store = try await PostgresStore.open(address)
        await store.close()
      }
    }

    @Test func isMadeOnceByManyAtATime() async throws {
      try await Database.withSchema { schema in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<8 {
            group.addTask {
              let store = try await Database.open(schema, .init(readerCount: 1))
              try await store.register(try Games.schema())
              try await store.put(Games.record("r\(number)"))
              await store.close()
            }
          }
          try await group.waitForAll()
        }
        #expect(try Database.run("SELECT count(*) FROM \(schema).live_games") == "8")
      }
    }

    @Test func keepsStoresSideBySide() async throws {
      try await Database.withSchemas(2) { schemas in
        let (a, b) = (try await Database.open(schemas[0]), try await Database.open(schemas[1]))
        for store in [a, b] { try await store.register(try Games.schema()) }
        _ = try await a.acquireLease(for: .seconds(60))
        let lease = try await b.acquireLease(for: .seconds(60))
        try await a.put(Games.record("a"))
        try await b.write(.lease(lease)) { (transaction) throws(SyncError) in
          try transaction.put([try Games.record("b")])
        }
        #expect(try await a.keys() == ["a"])
        #expect(try await b.keys() == ["b"])
        await a.close()
        await b.close()
      }
    }
  }

  extension PostgresStore {
    fileprivate func setValue(_ value: UInt8) async throws(SyncError) {
      try await write(.app) { (transaction) throws(SyncError) in
        try transaction.setValue([value], forKey: "key")
      }
    }
  }
#endif
