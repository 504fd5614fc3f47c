#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import SQLiteAdapters
  import SyncJSON
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("Queries in SQLite", .timeLimit(.minutes(10)))
  struct QueryTests {
    private let games = Entity(
      "games", references: [.to("games", by: "ref")], naturalKey: NaturalKey("code"), indexes: ["a", "b"])

    @Test(arguments: [
      (Query("games", where: .equal("a", 5)), "rows_games.f2 (f2=?)"),
      (Query("games", where: .equal("a", nil)), "rows_games.f2 (f2=?)"),
      (Query("games", where: .isIn("b", [1, "x"])), "rows_games.f3 (f3=?)"),
      (Query("games", where: .isIn("b", (0..<1000).map { .integer($0) })), "rows_games.f3 (f3=?)"),
      (Query("games", where: .range("a", from: "x", to: "y")), "rows_games.f2 (f2>? AND f2<?)"),
      (Query("games", where: .atLeast("a", 5)), "rows_games.f2 (f2>? AND f2<?)"),
      (Query("games", where: .atMost("a", 5)), "rows_games.f2 (f2>? AND f2<?)"),
      (Query("games", where: .less("a", "x")), "rows_games.f2 (f2>? AND f2<?)"),
      (Query("games", where: .greater("a", false)), "rows_games.f2 (f2>? AND f2<?)"),
      (Query("games", where: .equal("ref", "k")), "rows_games.f0 (f0=?)"),
      (Query("games", where: .equal("b", 1) && .not(.equal("a", 2))), "rows_games.f3 (f3=?)"),
    ])
    func useTheDeclaredIndex(_ query: Query, _ step: String) async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(games))
        let plan = try await store.queryPlan(query)
        #expect(plan.contains { $0.contains("USING INDEX " + step) }, "\(plan)")
      }
    }

    @Test(arguments: [
      Query("games"), Query("games", afterKey: "g"), Query("games", order: ["a"]),
      Query("games", where: .equal("a", 1)), Query("games", where: .equal("a", 1), order: ["a"]),
    ])
    func needNoSortingWhereAnIndexHasTheOrder(_ query: Query) async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(games))
        let plan = try await store.queryPlan(query)
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
      }
    }

    @Test func keepNULsAndSpellingsApart() async throws {
      let keys = ["a", "a\u{0}", "a\u{0}b", "é", "e\u{301}", "\u{0}", "ab"]
      try await withStore { store, _ in
        try await store.register(try SyncSchema(games))
        let records = try keys.map { key in
          let text = String(decoding: JSONString.quoted(key), as: UTF8.self)
          return try copy(games, key, "{\"a\":\(text)}")
        }
        try await store.write(.app) { transaction throws(SyncError) in try transaction.put(records) }
        for record in records {
          let found = try await store.read { snapshot throws(SyncError) in
            try snapshot.records(Query("games", where: .equal("a", .string(record.id.key))))
          }
          #expect(found == [record])
        }
        let all = try await store.read { snapshot throws(SyncError) in
          try snapshot.records(Query("games", order: ["a"])).map { Array($0.id.key.utf8) }
        }
        #expect(all == keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
      }
    }

    @Test(arguments: [
      // More alternatives than one chain, than the stack of SQLite's parser, and than SQLite's
      // variables.
      Condition.any((0..<1000).map { .equal("a", .integer($0)) }),
      .any((0..<10_000).map { .equal("a", .integer($0)) }),
      .isIn("a", (0..<40_000).map { .integer($0) }),
      (0..<60).reduce(.equal("a", 3)) { inner, number in
        number.isMultiple(of: 2)
          ? .not(.all([inner, .atLeast("a", 0)])) : .any([.not(inner), .equal("b", 9)])
      },
    ])
    func mayBeLargerThanSQLiteLikes(_ condition: Condition) async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(games))
        let records = try (0..<20).map { try copy(games, "g\($0)", "{\"a\":\($0)}") }
        try await store.write(.app) { transaction throws(SyncError) in try transaction.put(records) }
        let expected = records.filter { record in
          condition.isSatisfied { name in name == "a" ? record.fields[2] : .null }
        }
        let (found, count) = try await store.read { snapshot throws(SyncError) in
          (
            try snapshot.records(Query("games", where: condition, limit: 5)),
            try snapshot.count(Query("games", where: condition, limit: 5))
          )
        }
        let sorted = expected.sorted { $0.id < $1.id }
        #expect(found == Array(sorted.prefix(5)))
        #expect(count == expected.count)
        #expect(count > 0)
      }
    }

    @Test func giveEachRecordItsOwnPayloadHoweverLongTheyAre() async throws {
      try await withStore { store, _ in
        try await store.register(try SyncSchema(games))
        // Payloads of a query share buffers. Some fill a buffer exactly, some leave a little room,
        // and one is larger than a buffer.
        let lengths = (0..<300).map { $0 == 150 ? 100_000 : $0 * 37 % 900 }
        let records = try lengths.enumerated().map { number, length in
          try copy(
            games, "g\(1000 + number)", "{\"a\":\(number),\"s\":\"\(String(repeating: "x", count: length))\"}"
          )
        }
        try await store.write(.app) { transaction throws(SyncError) in try transaction.put(records) }
        let (found, none) = try await store.read { snapshot throws(SyncError) in
          (try snapshot.records(Query("games")), try snapshot.records(Query("games", where: .equal("a", -1))))
        }
        #expect(found == records)
        #expect(none.isEmpty)
      }
    }

    @Test func answerAsAPlainEvaluationDoes() async throws {
      try await withStore { store, _ in
        var random = SplitMix64(seed: 20_260_401)
        try await store.register(try SyncSchema(games))
        let records = try (0..<100).map { number in
          try copy(games, "\(number % 3 == 0 ? "é" : "k")\(number)", QuerySamples.json(&random))
        }
        try await store.write(.app) { transaction throws(SyncError) in try transaction.put(records) }
        let samples = try records.map { try QuerySamples.Sample($0, of: games) }
        var selected = 0
        for _ in 0..<2000 {
          let query = QuerySamples.query(&random)
          let expected = QuerySamples.answer(query, among: samples)
          let (found, count) = try await store.read { snapshot throws(SyncError) in
            (try snapshot.records(query), try snapshot.count(query))
          }
          let limited = Array(expected.prefix(query.limit ?? .max))
          #expect(found.map(\.id) == limited, "\(query)")
          #expect(count == expected.count, "\(query)")
          if found.map(\.id) != limited { break }
          selected += found.count
        }
        // A test without matches would prove nothing.
        #expect(selected > 10_000)
      }
    }
  }
#endif
