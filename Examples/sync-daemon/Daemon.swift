#if SQLite
  import CanonicalSync
  import CanonicalSyncScheduleKit
  import CanonicalSyncToolSupport
  import SchedulingAdapters

  /// The schedule or a directory as a service's remote, with a coordinator that decides when to sync.
  struct Daemon {
    private let coordinator: SyncCoordinator
    private let network: Network
    private let options: DaemonOptions
    private let service: Service
    private let outcomes: Outcomes
    private let engine: SyncEngine

    init(_ options: DaemonOptions, _ service: Service) async throws(SyncError) {
      var schedule = try Schedule(directory: options.data, latency: options.latency)
      let store = try await OpenedStore.open(options.store).store
      let notices = schedule.notices + (try await schedule.addTypes(syncedInto: store))
      for notice in notices { service.log.notice(notice) }
      if let bundle = schedule.bootstrap {
        try await Self.load(bundle, of: schedule, into: store, service.log)
      }
      network = try Network(options)
      engine = try await SyncEngine(
        schema: schedule.schema, store: store, source: schedule.source,
        options: SyncOptions(pageSize: options.pageSize, leaseDuration: options.lease),
        connectivity: network.monitor, observers: service.observers)
      service.engine = engine
      let outcomes = Outcomes(endAfterOne: options.syncsOnce)
      let scheduler = try InProcessScheduler(
        timeZone: service.options.timeZone, expiration: service.stop, spread: options.interval / 10,
        connectivity: network.monitor)
      coordinator = SyncCoordinator(
        engine: engine, scheduler: options.syncsOnce ? nil : scheduler,
        // A restarted daemon syncs at once, however short its absence.
        options: .init(staleAfter: .zero, background: BackgroundPolicy(refreshAfter: options.interval)),
        cleanUp: service.cleanUp,
        observe: { event in
          service.receive(event)
          outcomes.observe(event)
        })
      (self.options, self.service, self.outcomes) = (options, service, outcomes)
    }

    /// Loads the bundle. If another process is syncing the store, loading is up to that process.
    private static func load(
      _ bundle: Bootstrap, of schedule: Schedule, into store: any LocalStore, _ log: ServiceLog
    ) async throws(SyncError) {
      do throws(SyncError) {
        let loaded = try await bundle.load(into: store, schema: schedule.schema, source: schedule.source)
          .loaded
        let count = loaded.values.reduce(0, +)
        if count > 0 { log.write(LogEntry("bundle.loaded", ("records", .integer(count)))) }
      } catch {
        guard error.code == .syncAlreadyInProgress else { throw error }
        log.write(LogEntry("bundle.left", ("because", .string("\(error)"))))
      }
    }

    /// Runs until a stop is requested.
    func run() async throws(SyncError) -> ExitCode {
      // The coordinator's initial status. It reports each later change.
      if network.monitor != nil { service.receive(.network(coordinator.status.network)) }
      options.syncsOnce ? coordinator.requestSync() : coordinator.launch()
      let (coordinator, network, stop, end) = (coordinator, network, service.stop, outcomes.end)
      await service.run {
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await network.run() }
          group.addTask { await coordinator.run() }
          await Self.waitForFirst(of: stop, end)
          group.cancelAll()
        }
      }
      // A single sync leaves no night for the clean-up.
      if options.syncsOnce, !outcomes.haveFailed { try await service.performCleanUp(stop) }
      await service.writeMetrics()
      if options.isJSON {
        let (result, count) = outcomes.all
        let members = result.members(live: try await engine.status().live) + [("syncs", .integer(count))]
        StandardStream.output.line(JSON.object(members))
      }
      return outcomes.haveFailed ? .failure : .success
    }

    private static func waitForFirst(of sources: CancellationSource...) async {
      await withTaskGroup(of: Void.self) { group in
        for source in sources { group.addTask { await source.waitUntilCancelled() } }
        await group.next()
        group.cancelAll()
      }
    }
  }
#endif
