#if os(Linux)
  import CanonicalSync
  import Foundation
  import InMemoryAdapters
  import Testing

  @Suite("Ten thousand starts and stops of a coordinator", .timeLimit(.minutes(10)))
  struct CoordinatorLeakTests {
    @Test func leaveNoTaskNoDescriptorAndNoMemoryBehind() async {
      // A separate process, because other tests allocate memory meanwhile.
      await #expect(processExitsWith: .success) {
        let world = try await LeakWorld()
        // The first round allocates lasting objects, and the allocator's reserves.
        try await world.startAndStop(2000)
        let before = try LeakWorld.Holdings()
        try await world.startAndStop(10_000)
        let after = try LeakWorld.Holdings()
        // A few hundred bytes left by each would exceed the limit, and a waiting task is larger.
        // The thread sanitizer also takes memory.
        let grown = after.memory - before.memory
        #expect(grown < 3_000_000 || ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil, "\(grown)")
        // Dispatch has a descriptor for each of its three clocks. It opens one with the first timer
        // of that clock.
        let opened = after.descriptors - before.descriptors
        #expect(opened <= 3, "\(opened)")
        #expect(world.connectivity.subscribers == 0)
      }
    }
  }

  /// An engine, with short-lived coordinators on real threads.
  private struct LeakWorld {
    let connectivity = ManualConnectivity(.offline)
    private let engine: SyncEngine

    /// The resources of a process.
    struct Holdings {
      let memory: Int
      let descriptors: Int

      init() throws {
        // The resident memory without shared file pages, which vary with the demands of other
        // processes.
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
          .compactMap { Int($0) }
        memory = try #require(pages.count > 2 ? pages[1] - pages[2] : nil) * Int(sysconf(Int32(_SC_PAGESIZE)))
        descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      }
    }

    init() async throws {
      engine = try await SyncEngine(
        schema: SyncSchema(World.teams, World.games), store: InMemoryStore(), source: InMemoryRemote(),
        connectivity: connectivity)
    }

    func startAndStop(_ count: Int) async throws {
      var kept: SyncCoordinator?
      for cycle in 0..<count {
        // Every second one is new. Each one is stopped at another point.
        if cycle.isMultiple(of: 2) || kept == nil {
          kept = SyncCoordinator(engine: engine, scheduler: InMemoryScheduler(connectivity: connectivity))
        }
        guard let coordinator = kept else { return }
        let run = Task { await coordinator.run() }
        if !cycle.isMultiple(of: 3) {
          var statuses = coordinator.statuses().makeAsyncIterator()
          while let status = await statuses.next(), status.state == .stopped {}
        }
        if cycle.isMultiple(of: 5) { coordinator.launch() }
        if cycle.isMultiple(of: 7) {
          connectivity.connectivity = cycle.isMultiple(of: 2) ? .unknown : .offline
        }
        run.cancel()
        await run.value
      }
    }
  }
#endif
