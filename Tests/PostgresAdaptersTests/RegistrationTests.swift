#if Postgres
  import CanonicalSyncTestPostgres
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
  }
#endif
