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

    /// The rights of Docs/ScalingOut.md suffice for everything but new types.
    @Test func servesARoleWithTheRightsOfEveryDay() async throws {
      try await Database.withSchema { schema in
        let owner = try await Database.open(schema)
        try await owner.register(try Games.schema())
        let role = "daily_\(schema)"
        try Database.run(
          """
          CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role); \
          GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)
          """)
        let store = try await PostgresStore.open(try PostgresAddress(address(user: role, schema: schema)))
        try await store.register(try Games.schema())
        var changes = store.changes().makeAsyncIterator()
        #expect(await changes.next()?.scope == .records([]))
        let lease = try await store.renew(try await store.acquireLease(for: .seconds(60)), for: .seconds(90))
        try await store.write(.lease(lease)) { (transaction) throws(SyncError) in
          try transaction.put([try Games.record("a")])
          try transaction.setValue([1], forKey: "k")
        }
        #expect(await changes.next() != nil)
        try await store.setValue(2)
        try await store.release(lease)
        #expect(try await store.keys() == ["a"])
        let error = await #expect(throws: SyncError.self) {
          try await store.register(try SyncSchema(Entity("clubs")))
        }
        #expect(error?.code == .permissionDenied)
        await store.close()
        await owner.close()
        try Database.run("DROP OWNED BY \(role); DROP ROLE \(role)")
      }
    }

    @Test func tellsOfTransactionsThatOnlyReadByDefault() async throws {
      let role = "calm_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
      try Database.run("CREATE ROLE \(role) LOGIN; ALTER ROLE \(role) SET default_transaction_read_only = on")
      let error = try await failure(address(user: role, schema: "s"))
      #expect(error.code == .storeReadOnly)
      #expect(error.message.contains("default_transaction_read_only is on"))
      #expect(!error.message.contains("standby"))
      try Database.run("DROP ROLE \(role)")
    }

    /// The server of the tests has no certificate, so a place that has to prove itself is refused.
    @Test(arguments: [
      (["host": "127.example.com", "hostaddr": "127.0.0.1"], false),
      (["host": "127.0.0.1.example.com", "hostaddr": "127.0.0.1"], false),
      (["host": "localhost", "hostaddr": "0.0.0.0"], false), (["host": "127.0.0.1"], true),
      (["host": "localhost", "hostaddr": "127.0.0.1"], true),
    ])
    func trustsOnlyThisMachineWithoutProof(_ place: [String: String], _ isTrusted: Bool) async throws {
      try await Database.withSchema { schema in
        let rest = ["port": "\(Database.port())", "user": "postgres", "dbname": "stores"]
        let address = try PostgresAddress(parameters: place.merging(rest) { $1 }, schema: schema)
        do throws(SyncError) {
          try await PostgresStore.open(address).close()
          #expect(isTrusted)
        } catch {
          #expect(error.code == .untrustedServer)
          #expect(!isTrusted)
        }
      }
    }

    @Test(arguments: [
      (["pg_locks": "no_locks"], "PostgreSQL ", "advisory locks"),
      (["LISTEN ": "LISTEM "], "PostgreSQL ", "LISTEN"),
      (["SET jit ": "SET jot ", "PostgreSQL 1": "CockroachDB "], "CockroachDB", "settings"),
    ])
    func refusesAServerThatOnlySpeaksTheProtocol(
      _ changes: [String: String], _ server: String, _ lack: String
    ) async throws {
      try await Database.withSchema { schema in
        let proxy = try PythonServer(
          Self.rewritingProxy, "\(Database.port())", changes.map { "\($0)|\($1)" }.joined(separator: "\n"))
        defer { proxy.stop() }
        let error = try await failure("postgres://postgres@127.0.0.1:\(proxy.port)/stores?schema=\(schema)")
        #expect(error.code == .invalidConfiguration)
        #expect(
          error.message.hasPrefix(server) && error.message.contains("lacks \(lack)"), "\(error.message)")
        #expect(try Database.run("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == "0")
      }
    }

    /// Passes bytes on, with some words replaced by others of the same length.
    private static let rewritingProxy = """
      import socket, sys, threading
      changes = [tuple(part.encode() for part in line.split("|")) for line in sys.argv[2].split("\\n")]
      def pump(a, b):
          try:
              while data := a.recv(65536):
                  for old, new in changes: data = data.replace(old, new)
                  b.sendall(data)
          except OSError: pass
          for s in (a, b):
              try: s.shutdown(socket.SHUT_RDWR)
              except OSError: pass
      listener = socket.create_server(("127.0.0.1", 0))
      print(listener.getsockname()[1], flush=True)
      while True:
          client = listener.accept()[0]
          server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
          for pair in ((client, server), (server, client)):
              threading.Thread(target=pump, args=pair, daemon=True).start()
      """

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
