#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation
  import Synchronization

  /// Mirrors a remote into an SQLite store.
  @main
  enum SyncMirror {
    static func main() async {
      let options = MirrorOptions()
      if options.watches {
        await Service.main(options.service, isJSON: options.isJSON) { (service) throws(SyncError) in
          try await watch(options, service)
        }
      }
      let screen = ProgressBar()
      let code = await run(options, Service(options.service), screen)
      screen.finish()
      code.endProcess()
    }

    /// Polls until a stop is requested.
    private static func watch(_ options: MirrorOptions, _ service: Service) async throws(SyncError)
      -> ExitCode
    {
      let remote = try MirrorRemote.opened(options) {
        service.log.notice("The server reports: \($0)", isWarning: true)
      }
      let store = try await OpenedStore.open(options.store)
      let mirror = Mirror(options: options, remote: remote, service: service, screen: nil)
      let outcome = Mutex<Result<Mirror.Look, SyncError>?>(nil)
      await service.run {
        do throws(SyncError) {
          let look = try await mirror.watch(into: store.store)
          outcome.withLock { $0 = .success(look) }
        } catch {
          outcome.withLock { $0 = .failure(error) }
        }
      }
      await service.writeMetrics()
      guard let look = try outcome.withLock({ $0 })?.get() else { return .failure }
      MirrorReport(look, options: options, emptiness: remote.emptiness).print()
      await store.close()
      return .success
    }

    private static func run(
      _ options: MirrorOptions, _ service: Service, _ screen: ProgressBar
    ) async -> ExitCode {
      let stop = service.stop
      let interrupt = Interrupt(on: [SIGINT, SIGTERM]) { stop.cancel() }
      do throws(SyncError) {
        let remote = try MirrorRemote.opened(options) {
          screen.say("The server reports: \($0)", isWarning: true)
        }
        if options.checks, let check = remote.check, case .declared(let declared) = remote.types {
          let types = try MirroredTypes.chosen(options.collections, among: declared).map(\.type)
          guard let report = try await stop.race({ () throws(SyncError) in try await check(types) }) else {
            if options.isJSON { StandardStream.output.line(JSON.cancelled) }
            return .interrupted
          }
          report.print(isJSON: options.isJSON)
          return report.hasProblems ? .failure : .success
        }
        let mirror = Mirror(options: options, remote: remote, service: service, screen: screen)
        let look = try await look(mirror, options)
        screen.finish()
        MirrorReport(look, options: options, emptiness: remote.emptiness).print()
        return interrupt.hasCome ? .interrupted : look.isComplete ? .success : .failure
      } catch {
        await service.writeMetrics()
        screen.finish()
        error.tell(by: "sync-mirror", isJSON: options.isJSON)
        return interrupt.hasCome ? .interrupted : .failure
      }
    }

    private static func look(_ mirror: Mirror, _ options: MirrorOptions) async throws(SyncError)
      -> Mirror.Look
    {
      if options.isDryRun { return try await mirror.lookWithoutChanges() }
      let opened = try await OpenedStore.open(options.store)
      let look = try await mirror.look(into: opened.store)
      if !look.result.wasCancelled { try await mirror.service.performCleanUp(mirror.service.stop) }
      await mirror.service.writeMetrics()
      await opened.close()
      return look
    }
  }
#else
  import CanonicalSyncToolSupport

  @main
  enum SyncMirror {
    static func main() {
      StandardStream.error.line("sync-mirror was built without the trait SQLite, which its store needs.")
      ExitCode.failure.endProcess()
    }
  }
#endif
