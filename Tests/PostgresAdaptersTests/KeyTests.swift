#if Postgres
  import CanonicalSyncTestPostgres
  import PostgresAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("Keys and values of any length", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct KeyTests {
    @Test func areFoundAndInOrder() async throws {
      try await Games.withStore { store, _ in
        let long = String(repeating: "k", count: 10_000)
        let head = String(repeating: "k", count: 1000)
        let keys = ["a", "a\u{0}", "a\u{0}b", head, head + "\u{0}", head + "l", long, long + "a", long + "b"]
        try await store.put(try keys.reversed().map { try Games.record($0, #"{"v":1}"#) })
        #expect(try await store.keys() == keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        let ids = keys.map { RecordID(type: "games", key: $0) }
        let found = try await store.read { (snapshot) throws(SyncError) in try snapshot.records(withIDs: ids)
        }
        #expect(found.map { $0?.id } == ids)
        // Each is one record: a second copy replaces the first.
        try await store.put(try keys.map { try Games.record($0, #"{"v":2}"#, version: 2) })
        #expect(try await store.keys(where: .equal("v", 2)).count == keys.count)
        var portions: [String] = []
        while true {
          let last = portions.last
          let rows = try await store.read { (snapshot) throws(SyncError) in
            try snapshot.rows("games", .all, after: last, limit: 2)
          }
          if rows.isEmpty { break }
          portions += rows.map(\.id.key)
        }
        #expect(portions == keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
      }
    }

    /// The history of a store's syncs has a thousand values of one family.
    @Test func areAllReadWhereThereAreMoreThanAConnectionRemembers() async throws {
      try await Games.withStore { store, _ in
        let keys = (0..<1000).map { "family/\($0)" }
        try await store.write(.app) { (transaction) throws(SyncError) in
          for key in keys { try transaction.setValue(Array(key.utf8), forKey: key) }
        }
        for _ in 1...2 {
          let lost = try await store.read { (snapshot) throws(SyncError) in
            var lost: [String] = []
            for key in keys where try snapshot.value(forKey: key) != Array(key.utf8) { lost.append(key) }
            return lost
          }
          #expect(lost == [])
        }
      }
    }

    @Test func areShownEscapedWhereTextCannotHoldThem() async throws {
      try await Games.withStore { store, schema in
        try await store.put(try Games.record("a\u{0}b", #"{"v":12.5,"code":"\u0000"}"#))
        let row = try Database.run("SELECT id, v, code, payload FROM \(schema).live_games")
        #expect(row == #"a\000b|12.5|\000|{"v":12.5,"code":"\u0000"}"#)
      }
    }

    @Test func longValuesCompareAsAWhole() async throws {
      try await Games.withStore { store, _ in
        let start = String(repeating: "x", count: 5000)
        let values = [start + "a", start + "b", start, String(start.dropLast(4900)), "x", "y"]
        for (place, value) in values.enumerated() {
          try await store.put(try Games.record("r\(place)", #"{"v":"\#(value)","code":"\#(value)"}"#))
        }
        for (place, value) in values.enumerated() {
          let wanted = FieldValue.string(value)
          #expect(try await store.keys(where: .equal("v", wanted)) == ["r\(place)"])
          #expect(try await store.keys(where: .isIn("v", [wanted])) == ["r\(place)"])
          let below = values.indices.filter { values[$0].utf8.lexicographicallyPrecedes(value.utf8) }
          #expect(try await store.keys(where: .less("v", wanted)) == below.map { "r\($0)" })
          #expect(try await store.keys(where: .atMost("v", wanted)).count == below.count + 1)
          let key = Games.entity.naturalKey(of: try Games.record("k", #"{"code":"\#(value)"}"#)) ?? ""
          let found = try await store.read { (snapshot) throws(SyncError) in
            try snapshot.records(ofType: "games", withNaturalKeys: [key])
          }
          #expect(found.map { $0.map(\.id.key) } == [["r\(place)"]])
        }
        #expect(try await store.keys(order: ["v"]) == ["r4", "r3", "r2", "r0", "r1", "r5"])
        #expect(try await store.keys(order: [.descending("v")]) == ["r5", "r1", "r0", "r2", "r3", "r4"])
      }
    }

    @Test func longNamesOfTypesAndFieldsStayApart() async throws {
      let name = String(repeating: "t", count: 63)
      let field = String(repeating: "f", count: 100)
      let entities = ["a", "b"].map { end in
        Entity(
          RecordType(name + end), indexes: [FieldName(field + "1"), FieldName(field + "2"), "id", "payload"])
      }
      try await Database.withSchema { schema in
        let store = try await Database.open(schema)
        try await store.register(try SyncSchema(entities))
        for entity in entities {
          let payload = Payload(Array(#"{"\#(field)1":1,"\#(field)2":2,"id":3}"#.utf8))
          let record = Record(
            id: RecordID(type: entity.type, key: "k"), version: .unversioned, payload: payload,
            fields: try entity.fields(of: payload))
          try await store.put(record)
          let found = try await store.read { (snapshot) throws(SyncError) in
            try snapshot.records(Query(entity.type, where: .equal(FieldName(field + "2"), 2)))
          }
          #expect(found == [record])
        }
        #expect(try Database.run("SELECT count(*) FROM pg_views WHERE schemaname = '\(schema)'") == "2")
        await store.close()
      }
    }
  }
#endif
