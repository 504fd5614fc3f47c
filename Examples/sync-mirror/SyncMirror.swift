#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation

  /// Mirrors a remote into an SQLite store.
  @main
  enum SyncMirror {
    static func main() async {
      let options = MirrorOptions()
      let screen = ProgressBar()
      let code = await run(options, screen)
      screen.finish()
      code.endProcess()
    }

    private static func run(_ options: MirrorOptions, _ screen: ProgressBar) async -> ExitCode {
      let stop = CancellationSource()
      let interrupt = Interrupt(on: [SIGINT]) { stop.cancel() }
      // A service manager's stop request is not an interruption of a watch, which ends in no other
      // way.
      let termination = Interrupt(on: [SIGTERM]) { stop.cancel() }
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
        let mirror = Mirror(options, remote: remote, screen: screen, stop: stop)
        let look = try await look(mirror, options)
        screen.finish()
        MirrorReport(look, options: options, emptiness: remote.emptiness).print()
        if interrupt.hasCome || (termination.hasCome && !options.watches) { return .interrupted }
        if look.isComplete { return .success }
        return termination.hasCome ? .interrupted : .failure
      } catch {
        screen.finish()
        error.tell(by: "sync-mirror", isJSON: options.isJSON)
        return interrupt.hasCome || termination.hasCome ? .interrupted : .failure
      }
    }

    private static func look(_ mirror: Mirror, _ options: MirrorOptions) async throws(SyncError)
      -> Mirror.Look
    {
      if options.isDryRun { return try await mirror.lookWithoutChanges() }
      let opened = try await OpenedStore.open(options.store)
      let look =
        try await options.watches ? mirror.watch(into: opened.store) : mirror.look(into: opened.store)
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
