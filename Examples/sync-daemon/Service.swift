#if SQLite
  import CanonicalSync
  import CanonicalSyncScheduleKit
  import CanonicalSyncToolSupport
  import SchedulingAdapters

  /// The assembled daemon.
  struct Service {
    private let coordinator: SyncCoordinator
    private let network: Network
    private let options: DaemonOptions
    private let log: DaemonLog
    private let stop: CancellationSource
    private let outcomes: Outcomes
    private let engine: SyncEngine
    private let tidying: Tidying?
    private let metrics: MetricsFile?
    private let notifier = ServiceNotifier()

    init(_ options: DaemonOptions, _ log: DaemonLog, _ stop: CancellationSource) async throws(SyncError) {
      var schedule = try Schedule(directory: options.data, latency: options.latency)
      Self.write(schedule.notices, log)
      let store = try await OpenedStore.open(options.store).store
      Self.write(try await schedule.addTypes(syncedInto: store), log)
      if let bundle = schedule.bootstrap {
        try await Self.load(bundle, of: schedule, into: store, log)
      }
      network = try Network(options)
      let observer = MetricsObserver()
      let engine = try await SyncEngine(
        schema: schedule.schema, store: store, source: schedule.source,
        options: SyncOptions(pageSize: options.pageSize, leaseDuration: options.lease),
        connectivity: network.monitor, observers: [log, observer])
      let outcomes = Outcomes(endAfterOne: options.syncsOnce)
      let tidying = options.hidesAfter.map { Tidying(engine, hidingAfter: $0, log) }
      let scheduler = try Self.scheduler(options, network, stop)
      let notifier = notifier
      coordinator = SyncCoordinator(
        engine: engine, scheduler: options.syncsOnce ? nil : scheduler,
        // A restarted daemon syncs at once, however short its absence.
        options: .init(staleAfter: .zero, background: BackgroundPolicy(refreshAfter: options.interval)),
        cleanUp: tidying?.work,
        observe: { event in
          if let entry = LogEntry(event) { log.write(entry) }
          notifier.tell(event)
          outcomes.observe(event)
        })
      (self.options, self.log, self.stop) = (options, log, stop)
      (self.engine, self.outcomes, self.tidying) = (engine, outcomes, tidying)
      metrics = options.metricsFile.map { MetricsFile(path: $0, observer, log) }
    }

    private static func write(_ notices: [String], _ log: DaemonLog) {
      for notice in notices { log.write(LogEntry("notice", ("text", .string(notice)))) }
    }

    /// Loads the bundle. If another process is syncing the store, loading is up to that process.
    private static func load(
      _ bundle: Bootstrap, of schedule: Schedule, into store: any LocalStore, _ log: DaemonLog
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

    private static func scheduler(
      _ options: DaemonOptions, _ network: Network, _ stop: CancellationSource
    ) throws(SyncError) -> InProcessScheduler {
      try InProcessScheduler(
        timeZone: options.timeZone, expiration: stop, spread: options.interval / 10,
        connectivity: network.monitor)
    }

    /// Runs until a stop is requested.
    func run() async throws(SyncError) -> ExitCode {
      // The coordinator's initial status. It reports each later change.
      if network.monitor != nil { log.write(LogEntry(coordinator.status.network)) }
      options.syncsOnce ? coordinator.requestSync() : coordinator.launch()
      let (coordinator, network, engine) = (coordinator, network, engine)
      let (notifier, metrics) = (notifier, metrics)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await network.run() }
        group.addTask { await coordinator.run() }
        group.addTask { await metrics?.run(engine) }
        group.addTask {
          // A store that no longer answers, as on a disk that hangs, is a reason to be restarted.
          await notifier.watch { _ = try? await engine.status() }
        }
        notifier.ready()
        await Self.waitForFirst(of: stop, outcomes.end)
        notifier.stopping()
        group.cancelAll()
        log.write(LogEntry("stopping"))
      }
      // A single sync leaves no night for the clean-up.
      if options.syncsOnce, !outcomes.haveFailed { try await tidying?.perform(stop) }
      await metrics?.write(engine)
      if options.isJSON { try await printCounts() }
      return outcomes.haveFailed ? .failure : .success
    }

    /// Prints the counts of all syncs together.
    private func printCounts() async throws(SyncError) {
      let (result, count) = outcomes.all
      let members = result.members(live: try await engine.status().live) + [("syncs", .integer(count))]
      StandardStream.output.line(JSON.object(members))
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
