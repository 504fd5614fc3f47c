#if SQLite
  import CanonicalSync
  import Foundation
  import InMemoryAdapters
  import SQLiteAdapters
  import Testing

  @Suite("A query that another process changes", .timeLimit(.minutes(10)))
  struct ObservedFromOutsideTests {
    struct Team: SyncedRecord, Codable {
      static let recordType: RecordType = "teams"
      var number: Int
    }

    /// Observes the store of a team, which the tool edits.
    private func observe(
      by clock: any Clock<Duration>, _ body: (RecordUpdates<Team>, InspectedStore) async throws -> Void
    ) async throws {
      try await InspectedStore.with { inspected in
        try inspected.write("teams", [#"{"id":"t","number":0}"#])
        try await inspected.sync()
        let store = try await SQLiteStore.open(path: inspected.path)
        let engine = try await SyncEngine(
          schema: SyncSchema(Entity("teams")), store: store, source: InMemoryRemote(), clock: clock)
        try await body(engine.records.observe(Team.self), inspected)
        await store.close()
      }
    }

    private func edit(_ store: InspectedStore, _ number: Int) async throws {
      let outcome = try await store.inspect(
        "edit", "--type", "teams", "--id", "t", "--set", "number=\(number)")
      #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func isReadAgainWithinAQuarterOfASecond() async throws {
      let clock = ManualClock()
      try await observe(by: clock) { (updates, store) async throws -> Void in
        var results = updates.makeAsyncIterator()
        #expect(try await results.next()?.map(\.number) == [0])
        for number in 1...3 {
          // No time passes but this quarter of a second.
          async let passed: Duration = { () async throws -> Duration in
            let pause = await clock.nextSleep(.observation)
            try await edit(store, number)
            clock.advance(by: pause)
            return pause
          }()
          #expect(try await results.next()?.map(\.number) == [number])
          #expect(try await passed == .milliseconds(250))
          // No task waits for an element, so the engine does not look at the file.
          #expect(clock.sleepers == 0)
        }
      }
    }

    @Test func givesManyCommitsAsOneResult() async throws {
      let clock = ManualClock()
      try await observe(by: clock) { (updates, store) async throws -> Void in
        var results = updates.makeAsyncIterator()
        #expect(try await results.next()?.map(\.number) == [0])
        for number in 1...4 { try await edit(store, number) }
        async let passed: Void = clock.advance(by: clock.nextSleep(.observation))
        #expect(try await results.next()?.map(\.number) == [4])
        await passed
      }
    }

    @Test func neverGoesBack() async throws {
      let last = 15
      try await observe(by: ContinuousClock()) { (updates, store) async throws -> Void in
        async let edits: Void = { () async throws -> Void in
          for number in 1...last { try await edit(store, number) }
        }()
        var numbers: [Int] = []
        for try await teams in updates {
          numbers += teams.map(\.number)
          if numbers.last == last { break }
        }
        try await edits
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        #expect(numbers.last == last)
      }
    }
  }
#endif
