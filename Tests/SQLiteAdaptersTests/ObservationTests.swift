#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import SQLiteAdapters
  import Testing

  @Suite("A query that other connections change", .timeLimit(.minutes(10)))
  struct ObservationTests {
    struct Team: SyncedRecord, Codable, Equatable, Identifiable {
      static let recordType: RecordType = "teams"
      var id: String
      var name: String
    }

    private func engine(_ store: SQLiteStore) async throws -> SyncEngine {
      try await SyncEngine(schema: SyncSchema(Entity("teams")), store: store, source: InMemoryRemote())
    }

    @Test func isReadAgainAfterTheirCommits() async throws {
      try await withStore { here, directory in
        let there = try await SQLiteStore.open(path: directory.file("store.db"))
        let (observer, writer) = (try await engine(here), try await engine(there))
        var updates = observer.records.observe(Team.self).makeAsyncIterator()
        #expect(try await updates.next()?.isEmpty == true)
        for number in 1...3 {
          try await writer.edits.upsert(Team(id: "t", name: "\(number)"))
          #expect(try await updates.next()?.map(\.name) == ["\(number)"])
        }
        try await observer.edits.upsert(Team(id: "u", name: "own"))
        #expect(try await updates.next()?.map(\.key) == ["t", "u"])
        await there.close()
      }
    }

    @Test func isHeardOfAsChangesToo() async throws {
      try await withStore { here, directory in
        let there = try await SQLiteStore.open(path: directory.file("store.db"))
        let (observer, writer) = (try await engine(here), try await engine(there))
        var changes = observer.changes().makeAsyncIterator()
        try await observer.edits.upsert(Team(id: "own", name: "1"))
        #expect(try await changes.next() == .records([RecordID(type: "teams", key: "own")]))
        try await writer.edits.upsert(Team(id: "other", name: "1"))
        #expect(try await changes.next() == .records([RecordID(type: "teams", key: "other")]))
        try await writer.expiring.set(
          "field", for: ExpiringField("place"), of: RecordID(type: "teams", key: "own"))
        #expect(try await changes.next() == .records([RecordID(type: "teams", key: "own")]))
        await there.close()
      }
    }

    /// An app loads between the call and the first request.
    @Test func isHeardOfFromTheCallOn() async throws {
      try await withStore { here, directory in
        let there = try await SQLiteStore.open(path: directory.file("store.db"))
        let (observer, writer) = (try await engine(here), try await engine(there))
        let changes = observer.changes()
        try await writer.edits.upsert(Team(id: "other", name: "1"))
        var iterator = changes.makeAsyncIterator()
        #expect(try await iterator.next() == .records([RecordID(type: "teams", key: "other")]))
        await there.close()
      }
    }

    @Test func hasNoMarkInAClosedStore() async throws {
      try await withStore { _, directory in
        let closed = try await SQLiteStore.open(path: directory.file("store.db"))
        await closed.close()
        await #expect(throws: SyncError.self) { try await closed.commitMark() }
      }
    }
  }
#endif
