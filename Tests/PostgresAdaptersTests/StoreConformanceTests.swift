#if Postgres
  import CanonicalSyncTestPostgres
  import Dispatch
  import InMemoryAdapters
  import PostgresAdapters
  import SyncConformance
  import SyncModels
  import SyncPorts
  import Synchronization
  import Testing

  @Suite("A store in PostgreSQL", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
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
        #expect(outcome == .kept, "\(outcome)")
      }
    }

    @Test func runsOnTheExecutorOfTheApp() async throws {
      try await Database.withSchemas(1) { schemas in
        let queue = AppQueue()
        var configuration = PostgresStore.Configuration()
        configuration.executor = PostgresExecutor { _ in queue }
        let store = try await Database.open(schemas[0], configuration)
        let before = queue.jobs.load(ordering: .relaxed)
        _ = try await store.read { snapshot throws(SyncError) in try snapshot.storeIdentity() }
        #expect(queue.jobs.load(ordering: .relaxed) > before)
        await store.close()
      }
    }

    private func run(_ check: LocalStoreCheck, executor: PostgresExecutor) async throws {
      try await withHarness(executor: executor) { harness in
        let outcome = try await check.run(on: harness)
        #expect(outcome == .kept, "\(outcome)")
      }
    }

    private func withHarness(
      executor: PostgresExecutor, _ body: (LocalStoreHarness) async throws -> Void
    ) async throws {
      try await Self.withHarness(body) { schema, configuration in
        var configuration = configuration
        configuration.executor = executor
        return try await Database.open(schema, configuration)
      }
    }

    /// Calls a body with two new stores, whose handles are opened as the caller says.
    static func withHarness(
      _ body: (LocalStoreHarness) async throws -> Void,
      open: @escaping @Sendable (_ schema: String, PostgresStore.Configuration) async throws -> PostgresStore
    ) async throws {
      let clock = ManualClock()
      try await Database.withSchemas(2) { schemas in
        let handles = Handles()
        let open = { @Sendable (schema: String) async throws -> PostgresStore in
          var configuration = PostgresStore.Configuration(readerCount: 2)
          configuration.leaseClock = { clock.timestamp }
          // The checks hold transactions open until another task has run, which may take minutes.
          configuration.idleTransactionTimeout = .seconds(300)
          return try await handles.keep(open(schema, configuration))
        }
        let harness = LocalStoreHarness(
          open: { try await open(schemas[0]) }, openAnother: { try await open(schemas[1]) },
          advanceLeaseClock: { clock.advance(by: $0) }, isDurable: true,
          close: { await ($0 as? PostgresStore)?.close() })
        try await body(harness)
        await handles.closeAll()
      }
    }
  }

  /// A queue that an app gives to its stores.
  private final class AppQueue: SerialExecutor {
    let jobs = Atomic(0)
    private let queue = DispatchQueue(label: "app")

    func enqueue(_ job: consuming ExecutorJob) {
      jobs.add(1, ordering: .relaxed)
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }
#endif
