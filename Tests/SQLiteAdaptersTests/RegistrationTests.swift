#if SQLite
  import CanonicalSync
  import SQLiteAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("Registering types in SQLite", .timeLimit(.minutes(10)))
  struct RegistrationTests {
    private let plain = Entity("games")
    private let indexed = Entity("games", indexes: ["date", "home"])

    private func fill(_ store: SQLiteStore, _ entity: Entity, count: Int) async throws {
      let records = try (0..<count).map { number in
        try copy(entity, "g\(number)", #"{"date":\#(number),"home":\#(number % 7)}"#)
      }
      try await store.write(.app) { transaction throws(SyncError) in try transaction.put(records) }
    }

    private func keys(_ store: SQLiteStore, _ query: Query) async throws -> [String] {
      try await store.read { snapshot throws(SyncError) in try snapshot.records(query).map(\.id.key) }
    }

    @Test(arguments: [0, 1, 499, 500, 501, 1234])
    func aNewFieldIsFilledInWhateverTheNumberOfRows(_ count: Int) async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(plain))
        try await fill(store, plain, count: count)
        try await store.register(try SyncSchema(indexed))
        #expect(try await store.number("SELECT count(*) FROM fields WHERE filled_through IS NOT NULL") == 0)
        #expect(
          try await keys(store, Query("games", where: .atLeast("date", 490), order: ["date"], limit: 5000))
            == (490..<max(490, count)).map { "g\($0)" })
        let plan = try await store.queryPlan(Query("games", where: .equal("date", 3)))
        #expect(plan.joined().contains("rows_games.f"))
      }
    }

    @Test func aDroppedIndexIsGoneAndAFieldMayComeBack() async throws {
      try await withStore { store, _ in
        let indexes = "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND name LIKE 'rows_games.f%'"
        try await store.register(try SyncSchema(indexed))
        try await fill(store, indexed, count: 3)
        #expect(try await store.number(indexes) == 2)
        try await store.register(try SyncSchema(Entity("games", indexes: ["home"])))
        #expect(try await store.number(indexes) == 1)
        // Written while the field was not declared, so its column must be filled again.
        let late = try copy(Entity("games", indexes: ["home"]), "g0", #"{"date":77}"#)
        try await store.write(.app) { transaction throws(SyncError) in try transaction.put([late]) }
        #expect(try await keys(store, Query("games", where: .equal("date", 77))) == ["g0"])
        try await store.register(try SyncSchema(indexed))
        #expect(try await keys(store, Query("games", where: .equal("date", 77))) == ["g0"])
        #expect(try await store.number("SELECT count(*) FROM fields") == 2)
      }
    }

    @Test func aFieldThatBecomesAReferenceIsReadAsAKey() async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(indexed))
        try await fill(store, indexed, count: 10)
        #expect(try await keys(store, Query("games", where: .equal("home", 6))) == ["g6"])
        let referring = Entity("games", references: [.to("games", by: "home")], indexes: ["date"])
        try await store.register(try SyncSchema(referring))
        #expect(try await keys(store, Query("games", where: .equal("home", "6"))) == ["g6"])
        #expect(try await keys(store, Query("games", where: .equal("home", 6))) == [])
        let fields = try await store.read { snapshot throws(SyncError) in
          try snapshot.records(withIDs: [RecordID(type: "games", key: "g6")]).first??.fields
        }
        #expect(fields == ["6", 6])
      }
    }

    @Test func anInterruptedRegistrationIsGoneOnWith() async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(indexed))
        try await fill(store, indexed, count: 1200)
        // The state that a process leaves when it dies after its first portion.
        try await store.execute("UPDATE fields SET filled_through = 500")
        try await store.execute("UPDATE rows_games SET f0 = NULL, f1 = NULL WHERE row > 500")
        try await store.execute("UPDATE entities SET declaration = replace(declaration, '\"date\",', '')")
        try await store.execute("UPDATE meta SET value = value + 1 WHERE key = 'catalog'")
        #expect(try await keys(store, Query("games", where: .equal("date", 1100))) == ["g1100"])
        try await store.register(try SyncSchema(indexed))
        #expect(try await keys(store, Query("games", where: .equal("date", 1100))) == ["g1100"])
        #expect(try await store.number("SELECT count(*) FROM rows_games WHERE f0 IS NULL") == 0)
      }
    }

    @Test func processesWithDifferentDeclarationsReadAndWriteTheirOwn() async throws {
      try await withStore { old, directory in
        try await old.register(try SyncSchema(Entity("games", indexes: ["home"])))
        let new = try await SQLiteStore.open(path: directory.file("store.db"))
        try await new.register(try SyncSchema(indexed))
        // The old process still writes records with only its declared field.
        let record = try copy(Entity("games", indexes: ["home"]), "g", #"{"date":5,"home":1}"#)
        try await old.write(.app) { transaction throws(SyncError) in try transaction.put([record]) }
        let query = Query("games", where: .equal("date", 5))
        let seen = try await new.read { snapshot throws(SyncError) in try snapshot.records(query) }
        #expect(seen.map(\.fields) == [[5, 1]])
        let own = try await old.read { snapshot throws(SyncError) in try snapshot.records(query) }
        #expect(own == [record])
        await new.close()
      }
    }

    @Test func aTypeThatDiffersInCaseFromAnEarlierOneIsRefused() async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(Entity("games")))
        let error = await #expect(throws: SyncError.self) {
          try await store.register(try SyncSchema(Entity("Games")))
        }
        #expect(error?.code == .invalidConfiguration)
      }
    }

    @Test func anyNamesAreSafe() async throws {
      let fields: [FieldName] = [
        "a\"b", "'); DROP TABLE meta; --", "é", "e\u{301}", "id", "payload", "select",
      ]
      let entity = Entity("sqlite_select", indexes: fields)
      try await withStore { store, _ in
        try await store.register(try SyncSchema(entity, Entity("meta"), Entity("rows_x"), Entity("x")))
        let record = try copy(entity, "k", #"{"é":1,"e\u0301":2,"a\"b":3,"payload":4}"#)
        try await store.write(.app) { transaction throws(SyncError) in try transaction.put([record]) }
        let found = try await store.read { snapshot throws(SyncError) in
          try snapshot.records(
            Query("sqlite_select", where: .equal("é", 1) && .equal("e\u{301}", 2) && .equal("a\"b", 3)))
        }
        #expect(found == [record])
        #expect(try await store.number("SELECT count(*) FROM live_sqlite_select") == 1)
      }
    }

    @Test func anyToolCanReadTheViews() async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(indexed))
        let record = try copy(indexed, "g", #"{"date":7,"home":true}"#)
        try await store.write(.app) { transaction throws(SyncError) in
          try transaction.put([record])
          try transaction.delete([
            Tombstone(id: RecordID(type: "games", key: "gone"), version: record.version)
          ])
        }
        let sql = """
          SELECT count(*) FROM live_games WHERE id = 'g' AND date = 7 AND home = 'true' AND payload LIKE '{"date":7%'
          """
        #expect(try await store.number(sql) == 1)
        #expect(try await store.number("SELECT count(*) FROM live_games") == 1)
      }
    }
  }
#endif
