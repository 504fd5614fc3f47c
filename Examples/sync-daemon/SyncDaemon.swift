#if SQLite
  import CanonicalSync
  import CanonicalSyncScheduleKit
  import CanonicalSyncToolSupport
  import Foundation
  import SQLiteAdapters

  /// Keeps an SQLite store in step with its source until it is stopped.
  @main
  enum SyncDaemon {
    static func main() async {
      let options = DaemonOptions()
      let log = DaemonLog(isJSON: options.logsJSON, logsPages: options.logsPages)
      let stop = CancellationSource()
      // A service manager's stop request is not an interruption: the current work is saved, as
      // always.
      let termination = Interrupt(on: [SIGTERM], secondTime: { _exit(ExitCode.failure.rawValue) }) {
        stop.cancel()
      }
      let interrupt = Interrupt(on: [SIGINT]) { stop.cancel() }
      let code = await run(options, log, stop)
      let signal: JSON? = interrupt.hasCome ? "SIGINT" : termination.hasCome ? "SIGTERM" : nil
      log.write(LogEntry("stopped", ("by", signal)))
      interrupt.hasCome && code == .success ? ExitCode.interrupted.endProcess() : code.endProcess()
    }

    private static func run(
      _ options: DaemonOptions, _ log: DaemonLog, _ stop: CancellationSource
    ) async -> ExitCode {
      do throws(SyncError) {
        return try await Service(options, log, stop).run()
      } catch {
        log.write(
          LogEntry("failed", ("code", .string(error.code.description)), ("error", .string("\(error)")))
            .asWarning)
        if options.isJSON { StandardStream.output.line(error.json) }
        return .failure
      }
    }
  }
#else
  import CanonicalSyncToolSupport

  @main
  enum SyncDaemon {
    static func main() {
      StandardStream.error.line("sync-daemon was built without the trait SQLite, which its store needs.")
      ExitCode.failure.endProcess()
    }
  }
#endif
