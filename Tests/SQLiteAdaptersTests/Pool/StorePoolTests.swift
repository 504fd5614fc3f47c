#if SQLite
  import Foundation
  import SyncModels
  import SyncPorts
  import Synchronization
  import Testing

  @testable import SQLiteAdapters

  @Suite("A pool of stores", .timeLimit(.minutes(10)))
  struct StorePoolTests {
    private let directory: TemporaryDirectory
    private static let schema = Result { try SyncSchema(Entity("games")) }

    init() throws { directory = try TemporaryDirectory(inMemory: true) }

    /// A pool with room for a few stores.
    private func pool(
      open: Int = 2, lent: Int = 2,
      prepare: @escaping @Sendable (SQLiteStore) async throws -> Void = { _ in }
    ) throws -> StorePool {
      var configuration = StorePool.Configuration()
      configuration.descriptors = open * configuration.store.descriptors
      configuration.threads = lent * configuration.store.threads
      return try StorePool(configuration: configuration, prepare: prepare)
    }

    private func path(_ name: String) -> String { directory.file(name + ".db") }

    /// Waits until the pool is used in a certain way.
    private func wait(for pool: StorePool, _ isReached: (StorePool.Occupancy) -> Bool) async {
      while !isReached(pool.occupancy) { await Task.yield() }
    }

    @Test func lendsAPreparedStoreAndKeepsItOpen() async throws {
      let openings = Mutex(0)
      let pool = try pool { store in
        openings.withLock { $0 += 1 }
        try await store.register(Self.schema.get())
      }
      for number in 1...3 {
        let answer = try await pool.withStore(at: path("a")) { store in
          let record = try copy(Entity("games"), "g\(number)")
          try await store.write(.app) { (transaction) throws(SyncError) in try transaction.put([record]) }
          return try await store.read { snapshot throws(SyncError) in
            try snapshot.records(Query("games")).count
          }
        }
        #expect(answer == number)
      }
      #expect(openings.withLock { $0 } == 1)
      #expect(pool.occupancy == .init(open: 1, busy: 0, waiting: 0))
      await pool.close()
    }

    @Test func closesAStoreThoughItsOpeningIsCancelledAndAnotherTaskOpensIt() async throws {
      let mayOpen = Mutex(false)
      let pool = try pool { _ in
        while !mayOpen.withLock({ $0 }) {
          try Task.checkCancellation()
          await Task.yield()
        }
      }
      let path = path("a")
      let first = Task { try await pool.withStore(at: path) { _ in } }
      await wait(for: pool) { $0.busy == 1 }
      let second = Task { try await pool.withStore(at: path) { _ in } }
      await wait(for: pool) { $0.waiting == 1 }
      let closing = Task { try await pool.close(at: path) }
      for _ in 0..<1000 { await Task.yield() }
      first.cancel()
      await #expect(throws: (any Error).self) { try await first.value }
      mayOpen.withLock { $0 = true }
      try await second.value
      try await closing.value
      await pool.close()
    }

    @Test func closesAStoreThoughOthersAskForItMeanwhile() async throws {
      let pool = try pool()
      let path = path("a")
      await withTaskGroup(of: Void.self) { tasks in
        for _ in 0..<4 {
          tasks.addTask {
            for _ in 0..<25 { try? await pool.withStore(at: path) { _ in await Task.yield() } }
          }
        }
        for _ in 0..<25 { try? await pool.close(at: path) }
      }
      await pool.close()
    }

    @Test func sharesOneStoreBetweenAllNamesOfAFile() async throws {
      let pool = try pool()
      try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("a"))
      try await pool.withStore(at: path("a")) { first in
        try await pool.withStore(at: path("link")) { second in #expect(first === second) }
        try await pool.withStore(
          at: directory.path + "/../" + directory.path.split(separator: "/").last! + "/a.db"
        ) {
          #expect($0 === first)
        }
        #expect(pool.occupancy.busy == 1)
      }
      await pool.close()
    }

    @Test func tellsNamesApartThatOnlySwiftTakesForEqual() async throws {
      let pool = try pool()
      let (composed, decomposed) = (path("\u{e9}"), path("e\u{301}"))
      #expect(composed == decomposed)
      try await pool.withStore(at: composed) { first in
        try await pool.withStore(at: decomposed) { second in #expect(first !== second) }
      }
      await pool.close()
    }

    @Test func closesTheLeastRecentlyUsedStore() async throws {
      let openings = Mutex<[String]>([])
      let pool = try pool(open: 2, lent: 2) { store in
        let name = try await store.number("SELECT count(*) FROM sqlite_schema")
        openings.withLock { $0.append("\(name ?? 0)") }
      }
      for name in ["a", "b", "a", "c", "a"] { try await pool.withStore(at: path(name)) { _ in } }
      #expect(openings.withLock { $0.count } == 3 && pool.occupancy.open == 2)
      // The log of a closed store has been moved into its file.
      #expect(try directory.names.filter { $0.hasSuffix("-wal") } == ["a.db-wal", "c.db-wal"])
      await pool.closeIdle(leaving: 1)
      #expect(try directory.names.filter { $0.hasSuffix("-wal") } == ["a.db-wal"])
      await pool.closeIdle()
      #expect(pool.occupancy == .init(open: 0, busy: 0, waiting: 0))
      try await pool.withStore(at: path("a")) { _ in }
      await pool.close()
    }

    @Test func admitsInTheOrderOfRequests() async throws {
      let pool = try pool(open: 1, lent: 1)
      let order = Shared<[String]>([])
      let names = (0..<20).map { "s\($0)" }
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        try await pool.withStore(at: path("first")) { _ in
          for (number, name) in names.enumerated() {
            tasks.addTask { [path = path(name)] in
              try await pool.withStore(at: path) { _ in
                #expect(pool.occupancy.busy == 1 && pool.occupancy.open == 1)
                order.withLock { $0.append(name) }
              }
            }
            await wait(for: pool) { $0.waiting == number + 1 }
          }
        }
        try await tasks.waitForAll()
      }
      #expect(order.withLock { $0 } == names)
      await pool.close()
    }

    @Test func aCancelledRequestLeavesTheQueue() async throws {
      let pool = try pool(open: 1, lent: 1)
      try await pool.withStore(at: path("a")) { _ in
        let request = Task { [path = path("b")] in try await pool.withStore(at: path) { _ in } }
        await wait(for: pool) { $0.waiting == 1 }
        request.cancel()
        let error = await #expect(throws: SyncError.self) { try await request.value }
        #expect(error?.code == .cancelled)
        #expect(pool.occupancy == .init(open: 1, busy: 1, waiting: 0))
        let names = try directory.names
        #expect(!names.contains("b.db"))
      }
      await pool.close()
    }

    @Test func aCancelledOpenerLeavesTheOpeningToTheNext() async throws {
      let attempts = Mutex(0)
      let pool = try pool { _ in
        let attempt = attempts.withLock { attempts in
          attempts += 1
          return attempts
        }
        guard attempt == 1 else { return }
        // The first one prepares until it is cancelled.
        while !Task.isCancelled { await Task.yield() }
        throw CancellationError()
      }
      let first = Task { [path = path("a")] in try await pool.withStore(at: path) { _ in } }
      await wait(for: pool) { $0.busy == 1 }
      while attempts.withLock({ $0 }) == 0 { await Task.yield() }
      let others = (0..<3).map { _ in
        Task { [path = path("a")] in try await pool.withStore(at: path) { ObjectIdentifier($0) } }
      }
      await wait(for: pool) { $0.waiting == 3 }
      first.cancel()
      await #expect(throws: CancellationError.self) { try await first.value }
      var stores: Set<ObjectIdentifier> = []
      for other in others { stores.insert(try await other.value) }
      #expect(stores.count == 1 && attempts.withLock { $0 } == 2)
      await pool.close()
    }

    @Test func errorsOfOpeningGoToThoseWhoAsked() async throws {
      let pool = try pool(open: 1, lent: 1)
      try directory.write(
        Data("no store, but a text that is long enough to be read as one".utf8), to: "bad.db")
      for _ in 0..<2 {
        let error = await #expect(throws: SyncError.self) {
          try await pool.withStore(at: path("bad")) { _ in Issue.record("It was lent.") }
        }
        #expect(error?.code == .storeUnreadable)
      }
      let missing = await #expect(throws: SyncError.self) {
        try await pool.withStore(at: path("missing/a")) { _ in }
      }
      #expect(missing?.code == .storeFailure)
      let empty = await #expect(throws: SyncError.self) { try await pool.withStore(at: "") { _ in } }
      #expect(empty?.code == .invalidConfiguration)
      #expect(pool.occupancy == .init(open: 0, busy: 0, waiting: 0))
      try await pool.withStore(at: path("good")) { _ in }
      // It can be opened as soon as the reason is gone.
      try FileManager.default.removeItem(atPath: path("bad"))
      try await pool.withStore(at: path("bad")) { _ in }
      await pool.close()
    }

    private struct Failure: Error {}

    @Test func anErrorOfThePreparationReachesAllWhoWaitAndClosesTheStore() async throws {
      let isAwaited = Mutex(false)
      let fails = Mutex(true)
      let pool = try pool { _ in
        while !isAwaited.withLock({ $0 }) { await Task.yield() }
        if fails.withLock({ $0 }) { throw Failure() }
      }
      let requests = (0..<3).map { _ in
        Task { [path = path("a")] in try await pool.withStore(at: path) { _ in } }
      }
      await wait(for: pool) { $0.waiting == 2 }
      isAwaited.withLock { $0 = true }
      for request in requests { await #expect(throws: Failure.self) { try await request.value } }
      #expect(pool.occupancy == .init(open: 0, busy: 0, waiting: 0))
      #expect(try !directory.names.contains("a.db-wal"))
      fails.withLock { $0 = false }
      try await pool.withStore(at: path("a")) { _ in }
      await pool.close()
    }

    @Test func anErrorOfTheBodyGivesTheStoreBack() async throws {
      let pool = try pool(open: 1, lent: 1)
      await #expect(throws: Failure.self) { try await pool.withStore(at: path("a")) { _ in throw Failure() } }
      #expect(pool.occupancy == .init(open: 1, busy: 0, waiting: 0))
      await pool.close()
    }

    @Test func closingWaitsForLendsAndFailsTheOthers() async throws {
      let pool = try pool(open: 1, lent: 1)
      let closing = try await pool.withStore(at: path("a")) { store in
        let request = Task { [path = path("b")] in try await pool.withStore(at: path) { _ in } }
        await wait(for: pool) { $0.waiting == 1 }
        let closing = Task { await pool.close() }
        let error = await #expect(throws: SyncError.self) { try await request.value }
        #expect(error?.code == .storeFailure && error?.message.contains("has been closed") == true)
        // The store stays open for its user.
        _ = try await store.commitMark()
        // Cancellation does not leave it open.
        closing.cancel()
        #expect(pool.occupancy.busy == 1)
        return closing
      }
      await closing.value
      await pool.close()
      #expect(pool.occupancy == .init(open: 0, busy: 0, waiting: 0))
      let late = await #expect(throws: SyncError.self) { try await pool.withStore(at: path("a")) { _ in } }
      #expect(late?.code == .storeFailure)
      #expect(try !directory.names.contains("a.db-wal"))
    }

    @Test func aStoreThatWasKeptIsNotUsableAfterItsClosing() async throws {
      let pool = try pool()
      let kept = try await pool.withStore(at: path("a")) { $0 }
      await pool.close()
      let error = await #expect(throws: SyncError.self) { _ = try await kept.commitMark() }
      #expect(error?.message.contains("has been closed") == true)
    }

    @Test func closesOneStoreAfterItsLends() async throws {
      let pool = try pool()
      try await pool.withStore(at: path("b")) { _ in }
      try await pool.close(at: path("b"))
      try await pool.close(at: path("never opened"))
      #expect(pool.occupancy.open == 0)
      let hasEnded = Shared(false)
      let closing = try await pool.withStore(at: path("a")) { store in
        let closing = Task { [path = path("a")] in
          try await pool.close(at: path)
          hasEnded.withLock { $0 = true }
        }
        for _ in 0..<100 { await Task.yield() }
        _ = try await store.commitMark()
        #expect(!hasEnded.withLock { $0 })
        return closing
      }
      try await closing.value
      // Nothing of the file is open, so another one may take its place.
      for name in ["a.db", "a.db.lease"] { try FileManager.default.removeItem(atPath: directory.file(name)) }
      try await pool.withStore(at: path("a")) { _ = try await $0.commitMark() }
      await pool.close()
    }

    /// Bodies that overlap without end must not keep the store open.
    @Test func closesAStoreThatIsAskedForAllTheTime() async throws {
      let pool = try pool()
      let isOver = Shared(false)
      let path = path("a")
      func ask() -> Task<Void, any Error> {
        Task {
          while !isOver.withLock({ $0 }) {
            try await pool.withStore(at: path) { store in
              _ = try await store.commitMark()
              // The body has the store, and gets it again.
              try await pool.withStore(at: path) { #expect($0 === store) }
            }
          }
        }
      }
      let tasks = (0..<4).map { _ in ask() }
      for _ in 0..<20 { try await pool.close(at: path) }
      isOver.withLock { $0 = true }
      for task in tasks { try await task.value }
      await pool.close()
    }

    @Test func refusesABudgetThatIsTooSmallForOneStore() throws {
      let store = StorePool.Configuration().store
      for (descriptors, threads) in [
        (store.descriptors - 1, store.threads), (store.descriptors, store.threads - 1), (0, 0),
      ] {
        let error = #expect(throws: SyncError.self) {
          try StorePool(configuration: .init(descriptors: descriptors, threads: threads))
        }
        #expect(
          error?.code == .invalidConfiguration && error?.message.contains("\(store.descriptors)") == true)
      }
      _ = try StorePool(configuration: .init(descriptors: store.descriptors, threads: store.threads))
    }
  }

  /// A value that tasks share.
  private final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    func withLock<R: Sendable>(_ body: (inout Value) -> R) -> R {
      value.withLock { value in body(&value) }
    }
  }
#endif
