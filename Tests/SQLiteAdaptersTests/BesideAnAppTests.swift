#if SQLite
  import CanonicalSyncCSQLite
  import Foundation
  import SyncModels
  import SyncPorts
  import Synchronization
  import Testing

  @testable import SQLiteAdapters

  @Suite("The threads of reads", .timeLimit(.minutes(10)))
  struct ReadingThreadTests {
    private static let processors = ProcessInfo.processInfo.activeProcessorCount

    private static func thread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }

    @Test func areThoseOfTheirTasks() async throws {
      try await withStore { store, _ in
        // Another test may read at the same time, and only some threads may be used. The first read
        // opens the connection.
        var attempts = 0
        while attempts < 10_000 || Self.processors > 1 && !Task.isCancelled {
          attempts += 1
          let here = Self.thread()
          if try await store.read({ _ in Self.thread() }) == here {
            #expect(Self.processors > 1)
            return
          }
        }
        #expect(Self.processors == 1)
      }
    }

    @Test @MainActor func areNotTheThreadOfTheCallingActor() async throws {
      try await withStore { store, _ in
        for _ in 0..<100 {
          let isMain = try await store.read { _ in Thread.isMainThread }
          #expect(!isMain)
        }
      }
    }

    @Test func areNotThoseOfAnExecutorThatTheTaskPrefers() async throws {
      let lane = AppLane()
      try await withStore { store, _ in
        try await Task(executorPreference: lane) {
          for _ in 0..<100 {
            let isThere = try await store.read { _ in lane.isCurrent }
            #expect(!isThere)
          }
        }.value
      }
    }

    @Test func leaveOneThreadToTheTasks() {
      let granted = (0...Self.processors).count { _ in TaskThreads.borrow() }
      defer { for _ in 0..<granted { TaskThreads.giveBack() } }
      #expect(granted < Self.processors)
    }

    @Test func areTheExecutorsOfTheApp() async throws {
      let lane = AppLane()
      try await withStore(.init(executor: SQLiteExecutor { _ in lane })) { store, _ in
        for _ in 0..<100 { try await store.read { _ in #expect(lane.isCurrent) } }
      }
    }

    @Test func runABodyOnceThatFindsNothingOrThrows() async throws {
      try await withStore { store, _ in
        let runs = Mutex(0)
        for _ in 0..<100 {
          let nothing = try await store.read { _ -> Int? in
            runs.withLock { $0 += 1 }
            return nil
          }
          #expect(nothing == nil)
          await #expect(throws: SyncError.self) {
            try await store.read { _ throws(SyncError) in
              runs.withLock { $0 += 1 }
              throw SyncError(.storeFailure, during: "testing")
            }
          }
        }
        #expect(runs.withLock(\.self) == 200)
      }
    }
  }

  /// A queue that an app gives to its stores or tasks.
  private final class AppLane: SerialExecutor, TaskExecutor {
    private let queue = DispatchQueue(label: "app")
    private static let key = DispatchSpecificKey<ObjectIdentifier>()

    init() { queue.setSpecific(key: Self.key, value: ObjectIdentifier(self)) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async {
        job.runSynchronously(
          isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
      }
    }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: Self.key) == ObjectIdentifier(self) }
  }

  @Suite("Memory statistics of SQLite", .timeLimit(.minutes(10)))
  struct MemoryStatisticsTests {
    @Test func areOmitted() async {
      await #expect(processExitsWith: .success) {
        try await withStore { _, _ in #expect(sqlite3_memory_used() == 0) }
      }
    }

    @Test func stayWhereTheAppHasUsedSQLiteBefore() async {
      await #expect(processExitsWith: .success) {
        #expect(sqlite3_initialize() == SQLITE_OK)
        try await withStore { _, _ in #expect(sqlite3_memory_used() > 0) }
      }
    }
  }

  @Suite("The end of a sync's transactions", .timeLimit(.minutes(10)))
  struct PageGroupEndTests {
    private let games = Entity("games")

    private func ends(
      by count: Int, of size: Int = 0, in store: SQLiteStore, _ lease: Lease
    ) async throws -> Bool? {
      let text = "{\"text\":\"\(String(repeating: "x", count: size))\"}"
      let records = try (0..<count).map { try copy(games, "k\($0)", text) }
      return try await store.write(.lease(lease)) { transaction throws(SyncError) in
        try transaction.put(records)
        return (transaction as? any PageGroupTransaction)?.shouldCommit
      }
    }

    @Test func endAfterThreePagesUntilMuchWasWritten() async throws {
      try await withStore { store, _ in
        try await store.register(SyncSchema(games))
        let lease = try await store.acquireLease(for: .seconds(60))
        #expect(try await ends(by: 800, in: store, lease) == false)
        #expect(try await ends(by: 1200, in: store, lease) == true)
        _ = try await ends(by: 1, of: 17 << 20, in: store, lease)
        #expect(try await ends(by: 1200, in: store, lease) == false)
      }
    }

    @Test func goOnWhereNothingCopiesTheLogBesideThem() async throws {
      let directory = try TemporaryDirectory(inMemory: true)
      let store = try await SQLiteStore.open(
        path: directory.file("store.db"), configuration: .init(executor: .inline))
      try await store.register(SyncSchema(games))
      let lease = try await store.acquireLease(for: .seconds(60))
      #expect(try await ends(by: 1200, in: store, lease) == false)
      await store.close()
    }

    @Test func endAfterTwoPagesForSomeTime() async throws {
      try await withStore { store, _ in
        try await store.register(SyncSchema(games))
        let lease = try await store.acquireLease(for: .seconds(60))
        let isEnded = { (count: Int) in try await ends(by: count, in: store, lease) }
        #expect(try await isEnded(1000) == false)
        try await store.write(.app) { transaction throws(SyncError) in
          try transaction.setValue([1], forKey: "k")
        }
        #expect(try await isEnded(400) == false)
        #expect(try await isEnded(800) == true)
        for _ in 0..<300 { _ = try await isEnded(0) }
        #expect(try await isEnded(1000) == false)
      }
    }
  }
#endif
