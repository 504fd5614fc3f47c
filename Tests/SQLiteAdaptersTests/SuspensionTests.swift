#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import SyncAdapters
  import Synchronization
  import Testing

  @testable import SQLiteAdapters

  /// An app that is suspended holds no lock, and what another engine declares puts no value astray.
  @Suite("A store object that an app shares with its system and its parts", .timeLimit(.minutes(10)))
  struct SuspensionTests {
    private static let id = RecordID(type: "games", key: "g")

    private func engine(_ store: SQLiteStore, _ remote: InMemoryRemote, _ entity: Entity) async throws
      -> SyncEngine
    {
      try await SyncEngine(
        schema: SyncSchema(entity), store: store, source: remote, sink: remote,
        options: SyncOptions(pageSize: 1, pagesAhead: 0))
    }

    private func set(_ engine: SyncEngine, _ name: FieldName, _ value: String) async throws {
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(Self.id) { (fields) throws(SyncError) in fields[name] = Array(value.utf8)[...] }
      }
    }

    @Test func refusesWritesUntilItIsResumed() async throws {
      let directory = try TemporaryDirectory()
      let store = try await SQLiteStore.open(path: directory.file("s.db"))
      let remote = InMemoryRemote()
      for number in 1...5 { remote.upsert("games", "g\(number)", "{}") }
      let engine = try await engine(store, remote, Entity("games"))
      let hooked = Mutex(0)
      let source = PausingSource(base: remote) {
        if hooked.withLock({ count in
          count += 1
          return count == 3
        }) {
          await store.suspend()
        }
      }
      let syncing = try await SyncEngine(
        schema: SyncSchema(Entity("games")), store: store, source: source,
        options: SyncOptions(pageSize: 1, pagesAhead: 0))
      await #expect { try await syncing.sync() } throws: { ($0 as? SyncError)?.code == .storeBusy }
      #expect(store.heldLeases.withLock { $0.isEmpty })
      await #expect { try await set(engine, "a", "1") } throws: { ($0 as? SyncError)?.code == .storeBusy }
      let count = try await store.read { (snapshot) throws(SyncError) in try snapshot.count(Query("games")) }
      #expect(count == 2)
      // Another process takes the lease at once.
      let other = try await SQLiteStore.open(path: directory.file("s.db"))
      let lease = try await other.acquireLease(for: .seconds(60))
      try await other.release(lease)
      store.resume()
      try await set(engine, "a", "1")
      let result = try await syncing.sync()
      #expect(result.total.inserted == 3)
      await store.close()
      await other.close()
    }

    @Test func putsNoValueAstrayForAnotherEngine() async throws {
      let directory = try TemporaryDirectory()
      let store = try await SQLiteStore.open(path: directory.file("s.db"))
      let remote = InMemoryRemote()
      let wide = try await engine(store, remote, Entity("games", indexes: ["a", "b"]))
      try await set(wide, "a", "1")
      let narrow = try await engine(store, remote, Entity("games", indexes: ["b"]))
      await #expect { try await set(wide, "b", "2") } throws: {
        ($0 as? SyncError)?.code == .declarationsReplaced
      }
      remote.upsert("games", "h", #"{"a":5,"b":6}"#)
      await #expect { try await wide.sync() } throws: { ($0 as? SyncError)?.code == .declarationsReplaced }
      try await set(narrow, "b", "3")
      _ = try await narrow.sync()
      func keys(_ name: FieldName, _ value: FieldValue) async throws -> [String] {
        try await store.read { (snapshot) throws(SyncError) in
          try snapshot.records(Query("games", where: .equal(name, value))).map(\.id.key)
        }
      }
      #expect(try await keys("a", 1) == ["g"])
      #expect(try await keys("b", 3) == ["g"])
      #expect(try await keys("b", 6) == ["h"])
      // A store object of its own lets the other one go on.
      let other = try await SQLiteStore.open(path: directory.file("s.db"))
      let apart = try await engine(other, remote, Entity("games", indexes: ["a", "b"]))
      try await set(narrow, "b", "4")
      try await set(apart, "a", "7")
      #expect(try await keys("a", 7) == ["g"])
      #expect(try await keys("b", 4) == ["g"])
      await store.close()
      await other.close()
    }
  }

  /// A source that waits before each page.
  private struct PausingSource: ForwardingSource {
    let base: any RemoteRecordSource
    let pause: @Sendable () async -> Void

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      await pause()
      return try await base.page(request)
    }
  }
#endif
