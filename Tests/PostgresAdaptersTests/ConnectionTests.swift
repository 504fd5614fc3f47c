#if Postgres
  import CanonicalSync
  import CanonicalSyncTestPostgres
  import Foundation
  import InMemoryAdapters
  import PostgresAdapters
  import Synchronization
  import Testing

  @Suite(
    "Connections that are lost, slow or in the way", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct ConnectionTests {
    /// Ends all connections that use a schema.
    private static func cut(_ schema: String) throws {
      try Database.run(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
        AND application_name = 'app-\(schema)'
        """)
    }

    private func open(_ schema: String, _ configuration: PostgresStore.Configuration = .init()) async throws
      -> PostgresStore
    {
      let address = try PostgresAddress("\(Database.address)?schema=\(schema)&application_name=app-\(schema)")
      let store = try await PostgresStore.open(address, configuration: configuration)
      try await store.register(try Games.schema())
      return store
    }

    @Test func areOpenedAgainAndNothingIsLostOrRepeated() async throws {
      try await Database.withSchema { schema in
        let store = try await open(schema)
        let runs = Mutex<[Int: Int]>([:])
        for number in 0..<6 {
          if number % 2 == 0 { try Self.cut(schema) }
          try await store.write(.app) { (transaction) throws(SyncError) in
            _ = try transaction.count(Query("games"))
            try transaction.put([try Games.record("r\(number)")])
            // The connection ends in the middle of a transaction, once.
            let isCut = runs.withLock { runs in
              runs[number, default: 0] += 1
              return number == 3 && runs[3] == 1
            }
            if isCut { #expect((try? Self.cut(schema)) != nil) }
            _ = try transaction.count(Query("games"))
            try transaction.log([])
          }
          #expect(try await store.keys().count == number + 1)
        }
        // A run whose first statement fails notes nothing.
        #expect(runs.withLock { $0 } == [0: 1, 1: 1, 2: 1, 3: 2, 4: 1, 5: 1])
        let position = try await store.read { (snapshot) throws(SyncError) in
          try snapshot.changes(after: nil).position
        }
        #expect(position.number == 6)
        await store.close()
      }
    }

    @Test func areOpenedAgainInTheirFirstTransaction() async throws {
      try await Database.withSchema { schema in
        let store = try await open(schema, .init(readerCount: 1))
        let runs = Mutex(0)
        let count = try await store.read { (snapshot) throws(SyncError) -> Int in
          let run = runs.withLock { runs in
            runs += 1
            return runs
          }
          _ = try snapshot.count(Query("games"))
          if run == 1 { #expect((try? Self.cut(schema)) != nil) }
          return try snapshot.count(Query("games"))
        }
        #expect(count == 0)
        #expect(runs.withLock { $0 } == 2)
        await store.close()
      }
    }

    @Test func theOutcomeOfACommitIsFoundOut() async throws {
      try await Database.withSchema { schema in
        let proxy = try CommitProxy()
        defer { proxy.stop() }
        let store = try await PostgresStore.open(try PostgresAddress("\(proxy.address)?schema=\(schema)"))
        try await store.register(try Games.schema())
        try await store.put(Games.record("first"))
        for (way, isThere) in [("answer", true), ("commit", false)] {
          let runs = Mutex(0)
          try proxy.lose(way)
          let result = try await store.write(.app) { (transaction) throws(SyncError) -> Int in
            let run = runs.withLock { runs in
              runs += 1
              return runs
            }
            try transaction.put([try Games.record("\(way)\(run)")])
            return run
          }
          #expect(result == (isThere ? 1 : 2), "lost: \(way)")
          #expect(runs.withLock { $0 } == (isThere ? 1 : 2), "lost: \(way)")
        }
        #expect(try await store.keys() == ["answer1", "commit2", "first"])
        await store.close()
      }
    }

    @Test func waitForAStandbyThatIsTakingOver() async throws {
      let name = "takeover_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
      try Database.run("CREATE DATABASE \(name)")
      let address = Database.address.replacing("/stores", with: "/\(name)")
      let store = try await PostgresStore.open(try PostgresAddress(address))
      try await store.register(try Games.schema())
      // The server only reads for a while, as a standby until its promotion.
      try Database.run("ALTER DATABASE \(name) SET default_transaction_read_only = on")
      try Database.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
      async let writing: Void = store.put(Games.record("a"))
      try await Task.sleep(for: .milliseconds(300))
      try Database.run("ALTER DATABASE \(name) RESET default_transaction_read_only")
      try await writing
      #expect(try await store.keys() == ["a"])
      await store.close()
      try Database.run("DROP DATABASE \(name) WITH (FORCE)")
    }

    @Test(arguments: [false, true])
    func aWriteThatWaitsTooLongFails(_ hasWrittenBefore: Bool) async throws {
      try await Database.withSchema { schema in
        // Makes the tables, and is idle while the other one waits, however busy the machine is.
        let other = try await Database.open(schema, .init(idleTransactionTimeout: .seconds(300)))
        try await other.register(try Games.schema())
        let store = try await Database.open(schema, .init(busyTimeout: .milliseconds(200)))
        try await store.register(try Games.schema())
        let first = hasWrittenBefore ? ["first"] : []
        for key in first { try await store.put(Games.record(key)) }
        let (entered, left) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let writing: Void = other.write(.app) { (transaction) throws(SyncError) in
          try transaction.put([try Games.record("slow")])
          _ = try transaction.count(Query("games"))
          entered.signal()
          left.wait()
        }
        await Task.detached { entered.waitHere() }.value
        let error = await #expect(throws: SyncError.self) { try await store.put(Games.record("late")) }
        #expect(error?.code == .storeBusy)
        left.signal()
        try await writing
        #expect(try await store.keys() == first + ["slow"])
        await other.close()
        await store.close()
      }
    }

    @Test func aTransactionThatDoesNothingEnds() async throws {
      try await Games.withImpatientStore { (store) async throws in
        let error = await #expect(throws: SyncError.self) {
          try await store.write(.app) { (transaction) throws(SyncError) in
            try transaction.put([try Games.record("a")])
            _ = try transaction.count(Query("games"))
            Thread.sleep(forTimeInterval: 3)
            _ = try transaction.count(Query("games"))
          }
        }
        #expect(error?.code == .storeFailure)
        #expect(try await store.keys() == [])
      }
    }

    @Test func aCancelledReadEndsAtTheServer() async throws {
      try await Games.withStore { store, schema in
        let locking = Thread {
          _ = try? Database.run("BEGIN; LOCK TABLE \(schema).rows_games; SELECT pg_sleep(600); COMMIT")
        }
        locking.start()
        let holder = """
          SELECT pid FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted \
          AND relation = '\(schema).rows_games'::regclass
          """
        while try Database.run(holder).isEmpty { try await Task.sleep(for: .milliseconds(20)) }
        let task = Task { try await store.keys() }
        task.cancel()
        // While the table is locked, only a cancelled read can end.
        let error = await #expect(throws: SyncError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        try Database.run("SELECT pg_terminate_backend(pid) FROM (\(holder)) AS holders")
        // The connection serves on.
        _ = try await store.read { (snapshot) throws(SyncError) in try snapshot.changes(after: nil) }
      }
    }

    @Test func aCancelledReadThatWaitsForAReaderDoesNotBegin() async throws {
      try await Games.withStore(.init(readerCount: 1)) { store, _ in
        let (entered, left) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let reading: Void = store.read { (_) throws(SyncError) in
          entered.signal()
          left.wait()
        }
        await Task.detached { entered.waitHere() }.value
        let hasBegun = Mutex(false)
        let task = Task {
          try await store.read { (_) throws(SyncError) in hasBegun.withLock { $0 = true } }
        }
        task.cancel()
        // Longer than a read may go on after its task was cancelled.
        try await Task.sleep(for: .milliseconds(600))
        left.signal()
        try await reading
        let error = await #expect(throws: SyncError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(!hasBegun.withLock { $0 })
        #expect(try await store.keys() == [])
      }
    }

    @Test func deadlocksAreTriedAgain() async throws {
      try await Games.withStore { store, schema in
        let runs = Mutex(0)
        // A trigger fails the first transaction as a deadlock would.
        try Database.run(
          """
          CREATE SEQUENCE \(schema).tries; CREATE FUNCTION \(schema).fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
          IF nextval('\(schema).tries') < 3 THEN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END IF; RETURN NEW; END $$; \
          CREATE TRIGGER fail BEFORE INSERT ON \(schema).rows_games FOR EACH ROW EXECUTE FUNCTION \(schema).fail()
          """)
        try await store.write(.app) { (transaction) throws(SyncError) in
          runs.withLock { $0 += 1 }
          try transaction.put([try Games.record("a")])
        }
        #expect(runs.withLock { $0 } == 3)
        #expect(try await store.keys() == ["a"])
      }
    }

    @Test(arguments: [
      ("53100", SyncError.Code.storeFull), ("25006", .storeReadOnly), ("42501", .permissionDenied),
      ("XX001", .storeUnreadable), ("P0001", .storeFailure),
    ])
    func failuresOfTheServerAreTranslated(_ state: String, _ code: SyncError.Code) async throws {
      try await Games.withStore { store, schema in
        try Database.run(
          """
          CREATE FUNCTION \(schema).fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
          RAISE EXCEPTION 'a secret in %', NEW USING ERRCODE = '\(state)'; END $$; \
          CREATE TRIGGER fail BEFORE INSERT ON \(schema).kept FOR EACH ROW EXECUTE FUNCTION \(schema).fail()
          """)
        let error = await #expect(throws: SyncError.self) {
          try await store.write(.app) { (transaction) throws(SyncError) in
            try transaction.put([try Games.record("a")])
            try transaction.setValue([1], forKey: "k")
          }
        }
        #expect(error?.code == code)
        let words = "\(String(describing: error)) \(String(describing: error?.underlying))"
        #expect(!words.contains("secret"))
        #expect(try await store.keys() == [], "The whole transaction is rolled back.")
        #expect(
          try await store.read { (snapshot) throws(SyncError) in try snapshot.value(forKey: "k") } == nil)
      }
    }
  }

  extension DispatchSemaphore {
    fileprivate func waitHere() { wait() }
  }
#endif
