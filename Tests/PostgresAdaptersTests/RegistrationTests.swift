#if Postgres
  import CanonicalSyncTestPostgres
  import CanonicalSyncTestProcesses
  import Foundation
  import PostgresAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("Registering in a database in use", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct RegistrationTests {
    private func register(_ indexes: [FieldName], in store: PostgresStore) async throws {
      try await store.register(try SyncSchema(Entity("games", indexes: indexes)))
    }

    private func put(_ json: String, _ indexes: [FieldName], in store: PostgresStore) async throws {
      var record = try Games.record("g", json)
      record.fields = try Entity("games", indexes: indexes).fields(of: record.payload)
      try await store.put(record)
    }

    @Test func leavesWhatOthersMadeOfAView() async throws {
      try await Database.withSchema { schema in
        let store = try await Database.open(schema)
        try await register(["v"], in: store)
        try Database.run(
          """
          GRANT SELECT ON \(schema).live_games TO reader; \
          CREATE VIEW \(schema).report AS SELECT id, v FROM \(schema).live_games
          """)
        try await register(["a", "v"], in: store)
        try await put(#"{"a":"1","v":"2"}"#, ["a", "v"], in: store)
        #expect(try Database.run("SELECT id, v, a FROM \(schema).live_games") == "g|2|1")
        #expect(try Database.run("SELECT * FROM \(schema).report") == "g|2")
        #expect(
          try Database.run("SELECT has_table_privilege('reader', '\(schema).live_games', 'SELECT')") == "t")
        await store.close()
      }
    }

    @Test func saysWhatDependsOnAViewWhoseColumnIsGone() async throws {
      try await Database.withSchema { schema in
        let store = try await Database.open(schema)
        try await register(["a", "v"], in: store)
        try Database.run("CREATE VIEW \(schema).report AS SELECT id, v FROM \(schema).live_games")
        let error = await #expect(throws: SyncError.self) { try await register(["a"], in: store) }
        #expect(error?.code == .storeFailure)
        #expect(error?.message.contains("report") == true, "\(String(describing: error))")
        try Database.run("DROP VIEW \(schema).report")
        try await register(["a"], in: store)
        try await put(#"{"a":"1"}"#, ["a"], in: store)
        #expect(try Database.run("SELECT * FROM \(schema).live_games") == #"g|1|{"a":"1"}"#)
        await store.close()
      }
    }

    @Test func hasTheTimeThatAnIndexNeeds() async throws {
      try await Database.withSchema { schema in
        let store = try await Database.open(schema, .init(statementTimeout: .seconds(2)))
        try await register([], in: store)
        try Database.run(
          """
          CREATE FUNCTION \(schema).delay() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
          IF current_schema() = '\(schema)' THEN PERFORM pg_sleep(3); END IF; END $$; \
          CREATE EVENT TRIGGER \(schema) ON ddl_command_start WHEN TAG IN ('CREATE INDEX') \
          EXECUTE FUNCTION \(schema).delay()
          """)
        try await register(["v"], in: store)
        try Database.run("DROP EVENT TRIGGER \(schema)")
        // The usual statements still end in time.
        try Database.run(
          """
          CREATE FUNCTION \(schema).delay_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
          PERFORM pg_sleep(10); RETURN NEW; END $$; CREATE TRIGGER delay BEFORE INSERT ON \
          \(schema).rows_games FOR EACH ROW EXECUTE FUNCTION \(schema).delay_row()
          """)
        let error = await #expect(throws: SyncError.self) { try await store.put(Games.record("a")) }
        #expect(error?.code == .storeBusy)
        await store.close()
      }
    }

    /// Waits until a question is answered with yes.
    private func wait(for question: String) async throws {
      while try Database.run("SELECT \(question)") != "t" { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// Calls a body while another client has a snapshot, which the builds of indexes wait for.
    private func besideASnapshot(
      _ schema: String, _ body: (_ end: () throws -> Void) async throws -> Void
    ) async throws {
      let client = try ChildProcess([
        "psql", "-qAtX", Database.address, "-c",
        "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT '\(schema)'; SELECT pg_sleep(600)",
      ])
      let sleeping = """
        FROM pg_stat_activity WHERE query LIKE '%SELECT ''\(schema)''%' AND wait_event = 'PgSleep'
        """
      try await wait(for: "EXISTS (SELECT \(sleeping))")
      try await body { try Database.run("SELECT pg_terminate_backend(pid) \(sleeping)") }
      _ = client.waitUntilExit()
    }

    private func indexes(of schema: String) throws -> String {
      try Database.run(
        """
        SELECT count(*), bool_and(indisvalid) FROM pg_index \
        WHERE indrelid = '\(schema).rows_games'::regclass AND NOT indisunique
        """)
    }

    @Test func buildsAnIndexBesideTheWritesOfOthers() async throws {
      try await Database.withSchema { schema in
        var patient = PostgresStore.Configuration(busyTimeout: .seconds(300))
        patient.largeTable = 1
        let stores = [try await Database.open(schema, patient), try await Database.open(schema, patient)]
        for store in stores { try await register([], in: store) }
        try await put(#"{"v":"1"}"#, [], in: stores[0])
        let writer = try await Database.open(schema, .init(busyTimeout: .seconds(2)))
        func write(_ byte: UInt8) async throws {
          try await writer.write(.app) { (transaction) throws(SyncError) in
            var changes = StoreChanges()
            changes.values = [StoreChanges.KeptValue("app.a", [byte])]
            try transaction.apply(changes)
          }
        }
        try await besideASnapshot(schema) { end in
          async let first: Void = register(["v"], in: stores[0])
          async let second: Void = register(["v"], in: stores[1])
          let build = """
            FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND state = 'active' \
            AND wait_event = 'virtualxid' AND pid IN (SELECT pid FROM pg_locks WHERE relation = '\(schema).rows_games'::regclass)
            """
          try await wait(for: "EXISTS (SELECT \(build))")
          try await write(1)
          // What an interrupted build leaves behind is built anew.
          let pid = try Database.run("SELECT pid \(build)")
          try Database.run("SELECT pg_terminate_backend(\(pid))")
          try await wait(for: "EXISTS (SELECT \(build) AND pid <> \(pid))")
          try await write(2)
          try end()
          _ = try await (first, second)
        }
        #expect(try indexes(of: schema) == "1|t")
        for store in stores + [writer] { await store.close() }
      }
    }

    @Test func buildsAnIndexBehindALongTransaction() async throws {
      try await Database.withSchema { schema in
        var configuration = PostgresStore.Configuration(busyTimeout: .seconds(1))
        configuration.largeTable = 1
        let store = try await Database.open(schema, configuration)
        try await register([], in: store)
        try await put(#"{"v":"1"}"#, [], in: store)
        try await besideASnapshot(schema) { end in
          try await register(["v"], in: store)
          #expect(try indexes(of: schema) == "1|t")
          try end()
        }
        await store.close()
      }
    }
  }
#endif
