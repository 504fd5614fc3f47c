#if SQLite
  import CanonicalSync
  import SQLiteAdapters
  import ScheduleKit
  import SchedulingAdapters
  import Synchronization
  import ToolSupport

  /// The parts of the daemon, put together.
  struct Service {
    private let coordinator: SyncCoordinator
    private let network: Network
    private let options: DaemonOptions
    private let log: DaemonLog
    private let stop: CancellationSource
    private let trial: Trial
    private let tidying: Tidying?

    init(_ options: DaemonOptions, _ log: DaemonLog, _ stop: CancellationSource) async throws(SyncError) {
      var schedule = try Schedule(directory: options.data, latency: options.latency)
      for notice in schedule.notices { log.write(LogEntry("notice", ("text", .string(notice)))) }
      let store = try await SQLiteStore.open(path: options.store)
      try await schedule.addTypes(syncedInto: store)
      if let bundle = schedule.bootstrap {
        let loaded = try await bundle.load(into: store, graph: schedule.graph, source: schedule.source).loaded
        let count = loaded.values.reduce(0, +)
        if count > 0 { log.write(LogEntry("bundle.loaded", ("records", .integer(count)))) }
      }
      network = try Network(options)
      let engine = try await SyncEngine(
        graph: schedule.graph, store: store, source: schedule.source,
        options: SyncOptions(pageSize: options.pageSize), connectivity: network.monitor, observers: [log])
      let trial = Trial(endsAfterOne: options.syncsOnce)
      let tidying = options.hidesAfter.map { Tidying(engine, hidingAfter: $0, log) }
      let scheduler = try Self.scheduler(options, network, stop)
      coordinator = SyncCoordinator(
        engine: engine, scheduler: options.syncsOnce ? nil : scheduler,
        // A daemon that was started again goes on at once, however short it was away.
        options: .init(staleAfter: .zero, background: BackgroundPolicy(refreshAfter: options.interval)),
        cleanUp: tidying?.work,
        observe: { event in
          if let entry = LogEntry(event) { log.write(entry) }
          trial.observe(event)
        })
      (self.options, self.log, self.stop, self.trial, self.tidying) = (options, log, stop, trial, tidying)
    }

    private static func scheduler(
      _ options: DaemonOptions, _ network: Network, _ stop: CancellationSource
    ) throws(SyncError) -> InProcessScheduler {
      try InProcessScheduler(
        timeZone: options.timeZone, expiration: stop, spread: options.interval / 10,
        connectivity: network.monitor)
    }

    /// Serves until it is to stop.
    func run() async throws(SyncError) -> ExitCode {
      // As the coordinator saw it at first: each change since then, it tells.
      if network.monitor != nil { log.write(LogEntry(coordinator.status.network)) }
      options.syncsOnce ? coordinator.requestSync() : coordinator.launch()
      let (coordinator, network, trial, stop) = (coordinator, network, trial, stop)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await network.run() }
        group.addTask { await coordinator.run() }
        await Self.waitForFirst(of: stop, trial.end)
        group.cancelAll()
        log.write(LogEntry("stopping"))
      }
      if trial.hasFailed { return .failure }
      // Where there is only one sync, nobody gives time for it at night.
      if options.syncsOnce { try await tidying?.perform(stop) }
      return .success
    }

    private static func waitForFirst(of sources: CancellationSource...) async {
      await withTaskGroup(of: Void.self) { group in
        for source in sources { group.addTask { await source.waitUntilCancelled() } }
        await group.next()
        group.cancelAll()
      }
    }
  }

  /// Ends the daemon after one sync, where that is asked for, and remembers how it went.
  final class Trial: Sendable {
    /// Cancelled when the only sync there was is over.
    let end = CancellationSource()
    private let endsAfterOne: Bool
    private let failed = Mutex(false)

    init(endsAfterOne: Bool) {
      self.endsAfterOne = endsAfterOne
    }

    /// Whether the only sync there was did not do what it should; a daemon that goes on has other chances.
    var hasFailed: Bool { failed.withLock { $0 } }

    func observe(_ event: SyncCoordinator.Event) {
      guard endsAfterOne, let isSuccess = Self.isSuccess(event) else { return }
      failed.withLock { $0 = !isSuccess }
      end.cancel()
    }

    /// How it went; `nil` while it goes on.
    private static func isSuccess(_ event: SyncCoordinator.Event) -> Bool? {
      switch event {
      case .trigger(_, .ignored): false
      case .finished(_, .completed(let result)): result.failures.isEmpty
      case .finished(_, .stopped): true
      case .finished: false
      default: nil
      }
    }
  }
#endif
