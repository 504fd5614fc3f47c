#if Postgres
  import CanonicalSync
  import CanonicalSyncTestPostgres
  import InMemoryAdapters
  import PostgresAdapters
  import Testing

  @Suite("What a sync costs the server", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct StatementTests {
    /// The statements of a first sync, and of a second one that finds nothing.
    private func statements(types: Int, pages: Int) async throws -> (first: Int, second: Int) {
      try await Database.withSchema { schema in
        let store = try await Database.open(schema)
        let entities = (0..<types).map { Entity(RecordType("games\($0)"), indexes: ["v"]) }
        let remote = InMemoryRemote()
        for entity in entities {
          for number in 0..<400 * pages { remote.upsert(entity.type, "g\(number)", #"{"v":\#(number)}"#) }
        }
        let engine = try await SyncEngine(
          schema: try SyncSchema(entities), store: store, source: remote,
          options: SyncOptions(pageSize: 400, pagesAhead: 1))
        let start = try await store.statementCount()
        let result = try await engine.sync()
        #expect(result.total.inserted == 400 * pages * types)
        let between = try await store.statementCount()
        #expect(try await engine.sync().total.inserted == 0)
        let end = try await store.statementCount()
        await store.close()
        return (between - start, end - between)
      }
    }

    @Test func isBoundedForAPageAndForNothing() async throws {
      let (one, many) = (try await statements(types: 1, pages: 1), try await statements(types: 1, pages: 11))
      let perPage = (many.first - one.first) / 10
      #expect(perPage <= 12, "\(perPage) statements for a page of 400")
      let six = try await statements(types: 6, pages: 1)
      let perType = (six.second - one.second) / 5
      #expect(perType <= 5, "\(perType) statements for a type without changes")
      print(
        "statements: \(perPage) a page, \(perType) a type without changes, \(one.second) for nothing at all")
    }
  }
#endif
