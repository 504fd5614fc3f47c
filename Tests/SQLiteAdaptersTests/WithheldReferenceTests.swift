#if SQLite
  import SQLiteAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("References of withheld changes in SQLite")
  struct WithheldReferenceTests {
    private let games = Entity("games", references: [.to("teams", by: "home")])

    @Test func areReadWhenTheFileIsOlderThanTheirTable() async throws {
      let directory = try TemporaryDirectory()
      let path = directory.file("store.db")
      let schema = try SyncSchema(games, Entity("teams"))
      let old = try await SQLiteStore.open(path: path)
      try await old.register(schema)
      let count = 1203
      let entries = try (0..<count).map { number in
        let copy = try copy(games, "g\(number)", #"{"home":"t\#(number % 2)"}"#)
        return WithheldChange(
          key: .record(copy.id), kind: .hidden, change: .upsert(copy), reason: "old", pass: 1,
          finder: .sync(fence: 1),
          since: Timestamp(milliseconds: 1))
      }
      try await old.write(.app) { transaction throws(SyncError) in try transaction.withhold(entries) }
      try await old.undoSteps(after: 4)
      await old.close()

      let store = try await SQLiteStore.open(path: path)
      try await store.register(schema)
      let found = try await store.read { snapshot throws(SyncError) in
        try snapshot.withheld(
          .referringTo, [RecordID(type: "teams", key: "t1")], kinds: [.hidden], after: nil, limit: count)
      }
      #expect(found.count == count / 2)
      #expect(try await store.number("SELECT count(*) FROM meta WHERE key GLOB 'references/*'") == 0)
      await store.close()
    }
  }
#endif
