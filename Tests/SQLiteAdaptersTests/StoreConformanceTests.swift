#if SQLite
  import InMemoryAdapters
  import SyncConformance
  import SyncModels
  import SyncPorts
  import Synchronization
  import Testing

  @testable import SQLiteAdapters

  @Suite("A store in SQLite", .timeLimit(.minutes(10)))
  struct StoreConformanceTests {
    @Test(arguments: LocalStoreCheck.allCases)
    func keepsThePromisesOfALocalStore(_ check: LocalStoreCheck) async throws {
      try await run(check, executor: .dispatch)
    }

    @Test(arguments: LocalStoreCheck.allCases)
    func keepsThemOnTheCallersThread(_ check: LocalStoreCheck) async throws {
      try await run(check, executor: .inline)
    }

    @Test(arguments: SharedStoreCheck.allCases)
    func keepsThoseOfASharedStore(_ check: SharedStoreCheck) async throws {
      try await withHarness(executor: .dispatch) { harness in
        let outcome = try await check.run(on: harness)
        let isTold = check == .commitEndsAWait || check == .cancelledWaitEnds
        #expect(outcome == (isTold ? .skipped("The store is not told of commits.") : .kept), "\(outcome)")
      }
    }

    private func run(_ check: LocalStoreCheck, executor: SQLiteExecutor) async throws {
      try await withHarness(executor: executor) { harness in
        let outcome = try await check.run(on: harness)
        #expect(outcome == .kept, "\(outcome)")
      }
    }

    private func withHarness(
      executor: SQLiteExecutor, _ body: (LocalStoreHarness) async throws -> Void
    ) async throws {
      let directory = try TemporaryDirectory()
      let clock = ManualClock()
      let configuration = SQLiteStore.Configuration(
        busyTimeout: .seconds(300), leaseClock: { clock.timestamp }, executor: executor)
      // A released handle is a dead holder, and would free its lease early.
      let handles = Mutex<[SQLiteStore]>([])
      let harness = LocalStoreHarness(
        open: {
          let store = try await SQLiteStore.open(
            path: directory.file("store.db"), configuration: configuration)
          handles.withLock { $0.append(store) }
          return store
        },
        openAnother: {
          try await SQLiteStore.open(path: directory.file("other.db"), configuration: configuration)
        },
        advanceLeaseClock: { clock.advance(by: $0) }, isDurable: true,
        close: { handle in
          await (handle as? SQLiteStore)?.close()
          handles.withLock { handles in handles.removeAll { $0 === handle as? SQLiteStore } }
        })
      try await body(harness)
      for store in handles.withLock({ $0 }) { #expect(try await store.busyStatements() == 0) }
      // Whatever the check has written, the file and the checksums of its edits are sound.
      let store = try await SQLiteStore.open(path: directory.file("store.db"))
      #expect(try await store.formatFindings(limit: 9) == [])
      await store.close()
    }
  }
#endif
