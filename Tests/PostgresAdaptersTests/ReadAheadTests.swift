#if Postgres
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncTestPostgres
  import Foundation
  import InMemoryAdapters
  import PostgresAdapters
  import SyncPorts
  import Synchronization
  import Testing

  @Suite("States that are read ahead", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct ReadAheadTests {
    private static func page(_ keys: [String], version: Int64 = 2) throws(SyncError) -> [RecordChange] {
      var page: [RecordChange] = []
      for key in keys { page.append(.upsert(try Games.record(key, version: version))) }
      return page
    }

    private static func copies(_ page: [RecordChange]) -> [Record] {
      page.compactMap { if case .upsert(let copy) = $0 { copy } else { nil } }
    }

    private static func readAhead(_ pages: [[RecordChange]], in transaction: any StoreTransaction) {
      (transaction as? any PageGroupTransaction)?.readAhead(pages)
    }

    private static func states(
      of page: [RecordChange], in transaction: any StoreTransaction
    ) throws(SyncError) -> String {
      let copies = copies(page)
      let states = try transaction.states(of: copies.map(\.id), comparing: copies.map(\.payload))
      return states.map { state in
        guard let state else { return "-" }
        return "\(state.version.sequence)\(state.isDeleted ? "d" : "")\(state.hasSamePayload ? "s" : "")"
          + (state.isMarked ? "m" : "")
      }.joined(separator: " ")
    }

    /// Asks for pages of few records, and writes around them what the seed decides.
    private static func story(
      _ seed: UInt64, isAhead: Bool, in transaction: any StoreTransaction
    ) throws(SyncError) -> [String] {
      var random = SplitMix64(seed: seed)
      let keys = ["a", "b", "c", "d", "e", "f", "g", "h"]
      var pages: [[RecordChange]] = []
      for number in 0..<4 {
        let isApart = seed % 3 != 0
        var chosen = isApart ? Array(keys[number * 2...number * 2 + 1]) : keys.shuffled(using: &random)
        chosen = Array(chosen.prefix(Int.random(in: 1...2, using: &random)))
        pages.append(try page(chosen, version: 2))
      }
      if isAhead { Self.readAhead(pages, in: transaction) }
      var found: [String] = []
      for page in pages {
        found.append(try states(of: page, in: transaction))
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
          try transaction.delete([
            Tombstone(
              id: copies(page)[0].id, version: Version(sequence: 3, modifiedAt: Timestamp(milliseconds: 3)))
          ])
        case 1:
          let other = copies(pages.randomElement(using: &random) ?? page)
          try transaction.delete([
            Tombstone(id: other[0].id, version: Version(sequence: 3, modifiedAt: Timestamp(milliseconds: 3)))
          ])
        case 2: try transaction.clearMarks("games")
        case 3:
          let key = keys.randomElement(using: &random) ?? "a"
          try transaction.put([Games.record(key, #"{"x":1}"#, version: 4)])
        case 4: try transaction.mark(pages.flatMap { copies($0).map(\.id) })
        default:
          let chosen = copies(page)
          try transaction.apply { changes in
            changes.put = chosen
            changes.marked = chosen.map(\.id)
          }
        }
        if Bool.random(using: &random) { found.append(try states(of: page, in: transaction)) }
      }
      return found
    }

    @Test func areThoseAtTheMomentOfTheQuestion() async throws {
      try await Games.withStore { plain, _ in
        try await Games.withStore { ahead, _ in
          for seed in UInt64(0)..<60 {
            var found: [[String]] = []
            for (store, isAhead) in [(plain, false), (ahead, true)] {
              let states = try await store.write(.app) { (transaction) throws(SyncError) in
                try Self.story(seed, isAhead: isAhead, in: transaction)
              }
              let rows = try await store.read { (snapshot) throws(SyncError) in
                try snapshot.rows("games", .all, after: nil, limit: 99).map { row in
                  "\(row.id.key)\(row.version.sequence)\(row.isMarked)\(row.record?.payload.bytes ?? [])"
                }
              }
              found.append(states + rows)
            }
            #expect(found[0] == found[1], "seed \(seed)")
          }
        }
      }
    }

    @Test func costNoMoreStatements() async throws {
      try await Games.withStore { store, _ in
        var counts: [Int] = []
        for isAhead in [false, true, false, true] {
          let start = try await store.statementCount()
          try await store.write(.app) { (transaction) throws(SyncError) in
            let pages = [try Self.page(["a", "b"]), try Self.page(["c", "d"]), try Self.page(["e"])]
            if isAhead { Self.readAhead(pages, in: transaction) }
            for page in pages {
              _ = try Self.states(of: page, in: transaction)
              try transaction.put(Self.copies(page))
            }
          }
          counts.append(try await store.statementCount() - start)
        }
        #expect(counts[2] == counts[3])
      }
    }

    /// Writes two pages, the second one read ahead, and does something in between.
    private static func writeTwoPages(
      in store: PostgresStore, between: @Sendable () -> Void
    ) async throws(SyncError) {
      try await store.write(.app) { (transaction) throws(SyncError) in
        let pages = [try page(["a", "b"]), try page(["c", "d"])]
        readAhead(pages, in: transaction)
        _ = try states(of: pages[0], in: transaction)
        try transaction.put(copies(pages[0]))
        between()
        _ = try states(of: pages[1], in: transaction)
        try transaction.put(copies(pages[1]))
      }
    }

    @Test func areReadAgainAfterALostConnection() async throws {
      try await Database.withSchema { schema in
        let store = try await PostgresStore.open(
          try PostgresAddress("\(Database.address)?schema=\(schema)&application_name=app-\(schema)"))
        try await store.register(try Games.schema())
        try await store.put(Games.record("z"))
        let runs = Mutex(0)
        try await Self.writeTwoPages(in: store) {
          let run = runs.withLock { runs in
            runs += 1
            return runs
          }
          if run == 1 {
            #expect(
              (try? Database.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'app-\(schema)'"
              )) != nil)
          }
        }
        #expect(runs.withLock { $0 } == 2)
        #expect(try await store.keys() == ["a", "b", "c", "d", "z"])
        let position = try await store.read { (snapshot) throws(SyncError) in
          try snapshot.changes(after: nil).position
        }
        #expect(position.number == 2)
        await store.close()
      }
    }

    /// The server counts its idle time from the last write that it has run.
    @Test func keepNoTransactionThatDoesNothing() async throws {
      try await Games.withImpatientStore { (store) async throws in
        let error = await #expect(throws: SyncError.self) {
          try await Self.writeTwoPages(in: store) { Thread.sleep(forTimeInterval: 3) }
        }
        #expect(error?.code == .storeFailure)
        #expect(try await store.keys() == [])
      }
    }

    @Test func tellWhatAnEarlierWriteFailedBy() async throws {
      try await Games.withStore { store, schema in
        try await store.put(Games.record("z"))
        try Database.run(
          """
          CREATE FUNCTION \(schema).fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
          RAISE EXCEPTION 'x' USING ERRCODE = '53100'; END $$; \
          CREATE TRIGGER fail BEFORE INSERT ON \(schema).rows_games FOR EACH ROW EXECUTE FUNCTION \(schema).fail()
          """)
        let error = await #expect(throws: SyncError.self) { try await Self.writeTwoPages(in: store) {} }
        #expect(error?.code == .storeFull)
        #expect(try await store.keys() == ["z"], "The whole transaction is rolled back.")
        try Database.run("DROP TRIGGER fail ON \(schema).rows_games")
        try await Self.writeTwoPages(in: store) {}
        #expect(try await store.keys() == ["a", "b", "c", "d", "z"])
      }
    }
  }
#endif
