#if Postgres
  import CanonicalSync
  import CanonicalSyncTestPostgres
  import InMemoryAdapters
  import PostgresAdapters
  import SyncAdapters
  import Synchronization
  import Testing

  @Suite("Reading one list", .enabled(if: Database.isThere), .timeLimit(.minutes(5)))
  struct OneListTests {
    @Test func isOneStatement() async throws {
      try await Games.withStore(.init(readerCount: 1)) { store, _ in
        let engine = try await SyncEngine(
          schema: try Games.schema(), store: store, source: InMemoryRemote())
        for number in 0..<30 {
          try await store.put(Games.record("g\(number + 10)", #"{"v":\#(number % 3)}"#))
        }
        let records = engine.records
        // The first read of a connection begins a transaction. That of a type looks at its members.
        for _ in 0..<6 { _ = try await records.filter(Game.self, where: .equal("v", .integer(1))) }
        // Also after the server has chosen a plan for all values, and has planned anew.
        for number in 0..<250 {
          let value = number % 4
          let count = try await store.statements {
            let found = try await records.filter(
              Game.self, where: .equal("v", .integer(Int64(value))), limit: 4)
            #expect(found.map(\.key) == (0..<4).filter { _ in value < 3 }.map { "g\($0 * 3 + value + 10)" })
            #expect(found.allSatisfy { $0.value.v == value && $0.edit == nil })
          }
          #expect(count == 1, "\(number)")
        }
        let count = try await store.statements {
          let sorted = try await records.filter(
            Game.self, where: .greater("v", .integer(0)), order: [Query.SortField("v", descending: true)])
          #expect(sorted.map(\.value.v) == Array(repeating: 2, count: 10) + Array(repeating: 1, count: 10))
          let portion = try await records.filter(Game.self, afterKey: "g37", limit: 5)
          #expect(portion.map(\.key) == ["g38", "g39"])
          #expect(try await records.all(Game.self).count == 30)
          #expect(try await records.count(Game.self, where: .equal("v", .integer(1))) == 10)
          #expect(try await records.count(Game.self) == 30)
        }
        #expect(count == 5)
        // Another connection's commit is seen at once.
        try await store.put(Games.record("g10", #"{"v":7}"#, version: 2))
        #expect(try await records.filter(Game.self, where: .equal("v", .integer(7))).map(\.key) == ["g10"])
        // The states of pending edits are a second statement, in one transaction with the first.
        try await engine.edits.upsert(Game(v: 7), key: "g11")
        for _ in 0..<5 {
          let found = try await records.filter(Game.self, where: .equal("v", .integer(7)))
          #expect(found.map(\.hasPendingEdit) == [false, true])
        }
      }
    }

    /// More than the server keeps plans of.
    @Test func mayBeOfAnyNumberOfForms() async throws {
      try await Games.withStore(.init(readerCount: 1)) { store, _ in
        try await store.put((0..<9).map { number throws(SyncError) in try Games.record("g\(number)") })
        for limit in Array(1...300) + [5, 1, 300] {
          let records = try await store.read { (snapshot) throws(SyncError) in
            try snapshot.records(Query("games", limit: limit))
          }
          #expect(records.map(\.id.key) == (0..<min(limit, 9)).map { "g\($0)" })
        }
      }
    }

    /// What a body reads beside a list.
    enum Order: CaseIterable { case positionFirst, positionLast, countLast }

    /// Another server's commits write their number into two records.
    @Test(arguments: Order.allCases) func isNeverMixed(_ order: Order) async throws {
      try await Games.withStore(.init(readerCount: 2)) { store, schema in
        try await store.put(Games.record("a", #"{"v":0}"#), Games.record("b", #"{"v":0}"#))
        let start = try await store.read { (snapshot) throws(SyncError) in try Self.position(snapshot) }
        let other = try await Database.open(schema)
        try await other.register(try Games.schema())
        let isOver = Atomic(false)
        async let writing: Void = {
          defer { isOver.store(true, ordering: .relaxed) }
          for number in 1...300 {
            let (version, json) = (Int64(number + 1), #"{"v":\#(number)}"#)
            try await other.put(
              Games.record("a", json, version: version), Games.record("b", json, version: version))
          }
        }()
        var seen: Set<Int64> = []
        while !isOver.load(ordering: .relaxed) {
          let (payloads, number) = try await store.read { (snapshot) throws(SyncError) in
            let before = order == .positionFirst ? try Self.position(snapshot) - start : nil
            let list = try snapshot.records(
              Query("games", where: .greater("v", .integer(-1)), order: ["v"], limit: 2))
            let number: Int64
            if let before { number = before } else { number = try Self.position(snapshot) - start }
            let count =
              order == .countLast
              ? try snapshot.count(Query("games", where: .equal("v", .integer(number)))) : list.count
            return (list.prefix(count).map(\.payload), number)
          }
          let expected = Payload(Array(#"{"v":\#(number)}"#.utf8))
          #expect(payloads == [expected, expected])
          seen.insert(number)
        }
        try await writing
        #expect(seen.count > 10)
        await other.close()
      }
    }

    private static func position(_ snapshot: any StoreSnapshot) throws(SyncError) -> Int64 {
      try snapshot.changes(after: nil).position.number
    }

    @Test func thatGoesOnSoonBeginsATransaction() async throws {
      try await Games.withStore(.init(readerCount: 1)) { store, _ in
        try await store.put(Games.record("a", #"{"v":1}"#), Games.record("b", #"{"v":2}"#))
        let runs = Atomic(0)
        for _ in 0..<40 {
          // A list alone meanwhile does not make others run twice.
          #expect(try await store.keys() == ["a", "b"])
          try await store.read { (snapshot) throws(SyncError) in
            runs.add(1, ordering: .relaxed)
            let list = try snapshot.records(Query("games", where: .equal("v", .integer(1))))
            #expect(try snapshot.records(withIDs: list.map(\.id)) == list)
          }
        }
        let count = runs.load(ordering: .relaxed)
        #expect(count <= 40 + 15, "\(count)")
      }
    }
  }
#endif
