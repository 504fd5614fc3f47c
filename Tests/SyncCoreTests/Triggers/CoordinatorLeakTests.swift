#if os(Linux)
  import CanonicalSync
  import Foundation
  import InMemoryAdapters
  import Testing

  @Suite("Ten thousand starts and stops of a coordinator", .timeLimit(.minutes(10)))
  struct CoordinatorLeakTests {
    @Test func leaveNoTaskNoDescriptorAndNoMemoryBehind() async {
      // In a process of its own: what other tests take meanwhile is not theirs to leave behind.
      await #expect(processExitsWith: .success) {
        let world = try await LeakWorld()
        // What is made once for all, and what the allocator keeps.
        try await world.startAndStop(2000)
        let before = try LeakWorld.Holdings()
        try await world.startAndStop(10_000)
        let after = try LeakWorld.Holdings()
        // A few hundred bytes left by each would be more, and a task that still waits is larger than that. The thread sanitizer
        // takes memory of its own.
        let grown = after.memory - before.memory
        #expect(grown < 3_000_000 || ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil, "\(grown)")
        // Dispatch has a descriptor for each of its three clocks, which it opens when the first timer of that clock is armed.
        let opened = after.descriptors - before.descriptors
        #expect(opened <= 3, "\(opened)")
        #expect(world.connectivity.subscribers == 0)
      }
    }
  }

  /// An engine, and coordinators that come and go on real threads.
  private struct LeakWorld {
    let connectivity = ManualConnectivity(.offline)
    private let engine: SyncEngine

    /// What a process holds.
    struct Holdings {
      let memory: Int
      let descriptors: Int

      init() throws {
        // What is resident, without what is shared with files, which comes and goes with the memory that others need.
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
        // One in two is another one; each is stopped at another point of its way.
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
