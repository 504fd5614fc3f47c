#if Postgres
  import CanonicalSync
  import CanonicalSyncTestPostgres
  import InMemoryAdapters
  import PostgresAdapters
  import SyncAdapters
  import SyncConformance
  import Synchronization
  import Testing

  @Suite("Waits for a commit", .enabled(if: Database.isThere), .timeLimit(.minutes(5)))
  struct CommitWaitTests {
    @Test func ofObserversAskForNothingUntilThereIsOne() async throws {
      try await Games.withStore { store, schema in
        let counted = AskedStore(store)
        let engine = try await SyncEngine(
          schema: try Games.schema(), store: counted, source: InMemoryRemote())
        try await withThrowingTaskGroup { group in
          let heard = Heard()
          for observer in 0..<20 {
            group.addTask {
              for try await games in engine.records.observe(Game.self) {
                heard.counts.withLock { $0[observer] = games.count }
              }
            }
          }
          func all(have count: Int) async -> Bool {
            await Patience.lasts {
              heard.counts.withLock { $0.count == 20 && $0.values.allSatisfy { $0 == count } }
            }
          }
          #expect(await all(have: 0))
          let before = counted.questions
          try await Task.sleep(for: .seconds(2))
          #expect(counted.questions == before)
          let other = try await Database.open(schema)
          try await other.register(try Games.schema())
          try await other.put(Games.record("a"))
          #expect(await all(have: 1))
          await other.close()
          group.cancelAll()
        }
      }
    }

    @Test func leaveNoConnectionBehind() async throws {
      try await Games.withStore { _, schema in
        let name = "waits_\(schema)"
        func connections() throws -> Int {
          Int(try Database.run("SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(name)'"))
            ?? 0
        }
        let store = try await PostgresStore.open(
          try PostgresAddress("\(Database.address)?schema=\(schema)&application_name=\(name)"))
        let mark = try await store.commitMark()
        let before = try connections()
        // The second one ends while the end of the first is awaited.
        for _ in 0..<2 {
          let waiting = Task { await store.waitForCommit(after: mark) }
          try await Task.sleep(for: .seconds(2))
          #expect(try connections() == before + 1)
          waiting.cancel()
          #expect(await !waiting.value)
        }
        let end = ContinuousClock.now + .seconds(60)
        while try connections() > before, ContinuousClock.now < end {
          try await Task.sleep(for: .milliseconds(100))
        }
        #expect(try connections() == before)
        await store.close()
      }
    }

    /// An own commit is visible before it is acknowledged, and was once taken for another one's.
    @Test func hearEachCommitOfOthersBesideOwnOnes() async throws {
      try await Games.withStore { store, schema in
        let other = try await Database.open(schema)
        try await other.register(try Games.schema())
        let engine = try await SyncEngine(
          schema: try Games.schema(), store: store, source: InMemoryRemote())
        let heard = Heard()
        let changes = engine.changes()
        let following = Task {
          for await change in changes {
            guard case .records(let ids) = change else { continue }
            heard.counts.withLock { counts in
              for id in ids { counts[Int(id.key.dropFirst()) ?? 0, default: 0] += 1 }
            }
          }
        }
        for round in 1...30 {
          try await engine.edits.upsert(Game(v: round), key: "e\(-round)")
          try await other.put(Games.record("r\(round)"))
          let isHeard = await Patience.lasts {
            heard.counts.withLock { $0[round] != nil && $0[-round] != nil }
          }
          #expect(isHeard, "round \(round)")
        }
        following.cancel()
        await other.close()
      }
    }

    @Test func endWithTheirStore() async throws {
      try await Games.withStore { store, _ in
        let mark = try await store.commitMark()
        async let isTold = store.waitForCommit(after: mark)
        try await Task.sleep(for: .milliseconds(100))
        await store.close()
        #expect(await !isTold)
        #expect(await !store.waitForCommit(after: mark))
      }
    }

    @Test func endWhileTheServerIsAwayAndAreHeardAgain() async throws {
      let cluster = try ThrowawayCluster()
      defer { cluster.stop() }
      let store = try await PostgresStore.open(
        try PostgresAddress(cluster.address), configuration: .init(reconnectTimeout: .seconds(60)))
      try await store.register(try Games.schema())
      let mark = try await store.commitMark()
      async let isTold = store.waitForCommit(after: mark)
      try await Task.sleep(for: .milliseconds(300))
      try cluster.cutConnections()
      #expect(await !isTold)
      try await store.put(Games.record("a"))
      var isHeard = false
      let end = ContinuousClock.now + .seconds(60)
      while ContinuousClock.now < end, !isHeard {
        isHeard = await store.waitForCommit(after: mark)
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(isHeard)
      let now = try await store.commitMark()
      async let isToldLater = store.waitForCommit(after: now)
      try await Task.sleep(for: .milliseconds(100))
      cluster.stop()
      #expect(await !isToldLater)
      #expect(await !store.waitForCommit(after: now))
      await store.close()
    }
  }

  /// The number of records that each observer has shown last.
  private final class Heard: Sendable {
    let counts = Mutex<[Int: Int]>([:])
  }

  /// A store that counts what observers ask it.
  private final class AskedStore: ForwardingStore, SharedStore {
    let base: PostgresStore
    private let asked = Atomic(0)

    init(_ base: PostgresStore) { self.base = base }

    var questions: Int { asked.load(ordering: .relaxed) }

    func read<R: Sendable>(
      _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      asked.add(1, ordering: .relaxed)
      return try await base.read(body)
    }

    func commitMark() async throws(SyncError) -> CommitMark {
      asked.add(1, ordering: .relaxed)
      return try await base.commitMark()
    }

    func waitForCommit(after mark: CommitMark) async -> Bool { await base.waitForCommit(after: mark) }
  }
#endif
