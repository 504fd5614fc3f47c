#if Postgres
  import CanonicalSync
  import CanonicalSyncTestPostgres
  import Foundation
  import InMemoryAdapters
  import PostgresAdapters
  import Testing

  @Suite("Changes that other servers hear", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct FanOutTests {
    @Test func arriveWithTheirIDsAndAfterAnAbsence() async throws {
      try await Database.withSchema { schema in
        let writer = try await Database.open(schema)
        try await writer.register(try Games.schema())
        let address = try PostgresAddress(
          "\(Database.address)?schema=\(schema)&application_name=away-\(schema)")
        let follower = try await PostgresStore.open(address)
        try await follower.register(try Games.schema())
        var changes = follower.changes().makeAsyncIterator()
        let start = try #require(await changes.next())
        #expect(start.scope == .records([]))
        try await writer.put(Games.record("a"), Games.record("b"))
        let first = try #require(await changes.next())
        #expect(first.scope == .records([try Games.record("a").id, try Games.record("b").id]))

        // Its connections are cut off, again and again, while others write.
        for round in 0..<3 {
          try Database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'away-\(schema)'"
          )
          try await writer.put(Games.record("c\(round)"))
        }
        var heard: Set<String> = []
        while heard.count < 3, let next = await changes.next() {
          guard case .records(let ids) = next.scope else { break }
          heard.formUnion(ids.map(\.key))
        }
        #expect(heard == ["c0", "c1", "c2"])

        try await writer.put((0..<300).map { try Games.record("m\($0)") })
        #expect(await changes.next()?.scope == .everything)
        await follower.close()
        #expect(await changes.next() == nil)
        await writer.close()
      }
    }

    @Test func endWithTheTask() async throws {
      try await Database.withSchema { schema in
        let store = try await Database.open(schema)
        let task = Task {
          var count = 0
          for await _ in store.changes() { count += 1 }
          return count
        }
        while try Database.run(
          "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query LIKE '%timeline_id%'")
          == "0"
        {
          try await Task.sleep(for: .milliseconds(20))
        }
        task.cancel()
        _ = await task.value
        await store.close()
      }
    }
  }
#endif
