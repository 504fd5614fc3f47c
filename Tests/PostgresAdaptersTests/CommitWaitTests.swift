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
    private struct Game: SyncedRecord {
      static let recordType: RecordType = "games"
      var v: Int?
    }

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

    @Test func endWithTheirStore() async throws {
      try await Games.withStore { store, _ in
        let mark = try await store.commitMark()
        async let isTold = store.waitForCommit(after: mark, ignoringOwn: false)
        try await Task.sleep(for: .milliseconds(100))
        await store.close()
        #expect(await !isTold)
        #expect(await !store.waitForCommit(after: mark, ignoringOwn: false))
      }
    }

    @Test func endWhileTheServerIsAwayAndAreHeardAgain() async throws {
      let cluster = try ThrowawayCluster()
      defer { cluster.stop() }
      let store = try await PostgresStore.open(
        try PostgresAddress(cluster.address), configuration: .init(reconnectTimeout: .seconds(60)))
      try await store.register(try Games.schema())
      let mark = try await store.commitMark()
      async let isTold = store.waitForCommit(after: mark, ignoringOwn: false)
      try await Task.sleep(for: .milliseconds(300))
      try cluster.cutConnections()
      #expect(await !isTold)
      try await store.put(Games.record("a"))
      var isHeard = false
      let end = ContinuousClock.now + .seconds(60)
      while ContinuousClock.now < end, !isHeard {
        isHeard = await store.waitForCommit(after: mark, ignoringOwn: false)
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(isHeard)
      let now = try await store.commitMark()
      async let isToldLater = store.waitForCommit(after: now, ignoringOwn: false)
      try await Task.sleep(for: .milliseconds(100))
      cluster.stop()
      #expect(await !isToldLater)
      #expect(await !store.waitForCommit(after: now, ignoringOwn: false))
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

    func waitForCommit(after mark: CommitMark, ignoringOwn: Bool) async -> Bool {
      await base.waitForCommit(after: mark, ignoringOwn: ignoringOwn)
    }
  }
#endif
