#if SQLite
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncScheduleKit
  import CanonicalSyncToolSupport
  import Foundation

  /// Syncs a sports schedule into an SQLite store.
  ///
  /// The schedule is the built-in one, or a directory of NDJSON files.
  @main
  enum ScheduleSync {
    static func main() async {
      let stop = CancellationSource()
      // Before anything else: loading the bundle takes a while too, and an interrupt during it
      // requests the same stop.
      let interrupt = Interrupt(on: [SIGINT, SIGTERM]) { stop.cancel() }
      let options = ScheduleOptions()
      let screen = ProgressBar()
      let code = await run(options, screen, stop)
      screen.finish()
      interrupt.hasCome ? ExitCode.interrupted.endProcess() : code.endProcess()
    }

    private static func run(
      _ options: ScheduleOptions, _ screen: ProgressBar, _ stop: CancellationSource
    ) async -> ExitCode {
      do throws(SyncError) {
        var schedule = try Schedule(directory: options.data, latency: options.latency)
        for notice in schedule.notices { screen.say(notice) }
        let store = try await OpenedStore.open(options.store).store
        for notice in try await schedule.addTypes(syncedInto: store) { screen.say(notice) }
        if let bundle = schedule.bootstrap {
          let loaded = try await bundle.load(into: store, schema: schedule.schema, source: schedule.source)
            .loaded
          if !loaded.isEmpty {
            let records = Counted(loaded.values.reduce(0, +), "bundled record")
            screen.say("Loaded \(records.grouped); syncing the rest.")
          }
        }
        return try await sync(schedule, store, options, screen, stop)
      } catch {
        screen.finish()
        error.tell(by: "schedule-sync", isJSON: options.isJSON)
        return .failure
      }
    }

    private static func sync(
      _ schedule: Schedule, _ store: any LocalStore, _ options: ScheduleOptions, _ screen: ProgressBar,
      _ stop: CancellationSource
    ) async throws(SyncError) -> ExitCode {
      let rivals = RivalRecords()
      var observers: [any SyncObserver] = [ScreenObserver(screen), rivals]
      if let pages = options.cancelAfterPages { observers.append(PageLimit(pages, cancelling: stop)) }
      if options.isLogging { observers.append(LogObserver { screen.say($0) }) }
      var pace = SyncOptions(pageSize: options.pageSize, leaseDuration: options.lease)
      // Pages that depend on each other are committed together, which could exceed the number of
      // pages.
      if options.cancelAfterPages != nil { pace.pagesAhead = 1 }
      let engine = try await SyncEngine(
        schema: schedule.schema, store: store, source: schedule.source, options: pace, observers: observers)
      var request = SyncRequest(
        fullPull: options.listsEverything ? Set(schedule.schema.entities.map(\.type)) : [],
        allowsMassDeletion: options.allowsMassDeletion)
      request.versionsStartOver = options.listsEverything
      let result = try await engine.sync(request, token: stop)
      screen.finish()
      // After a stop, files are not read again. A file that is gone meanwhile must not fail the
      // sync.
      let places = result.wasCancelled ? nil : try? await schedule.places(of: rivals.ids)
      for place in places ?? [] { screen.say(place) }
      let report = try await ScheduleReport(result, of: engine, options: options)
      await report.print()
      return result.failures.isEmpty ? .success : .failure
    }
  }
#else
  import CanonicalSyncToolSupport

  @main
  enum ScheduleSync {
    static func main() {
      StandardStream.error.line("schedule-sync was built without the trait SQLite, which its store needs.")
      ExitCode.failure.endProcess()
    }
  }
#endif
