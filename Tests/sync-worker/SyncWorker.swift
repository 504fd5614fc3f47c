#if SQLite && (Curl || !os(Linux))
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation

  /// A test process that edits and syncs a shared store, or opens damaged ones.
  ///
  /// It runs until it is killed, or receives SIGTERM. It prints each edit before it is made, and
  /// the result afterwards. After a kill, the output shows which edits must be stored, which must
  /// not, and the one that may be.
  @main
  enum SyncWorker {
    static func main() async {
      if let lives = DamagedLives(CommandLine.arguments) {
        do {
          try await lives.run()
          ExitCode.success.endProcess()
        } catch {
          StandardStream.error.line("\(error)")
          ExitCode.failure.endProcess()
        }
      }
      guard let orders = Orders(CommandLine.arguments) else {
        StandardStream.error.line(
          "usage: canonical-sync-worker edit|settle STORE SERVER NAME SEED | damaged DIRECTORY SEED COUNT")
        ExitCode.usage.endProcess()
      }
      let stop = CancellationSource()
      let termination = Interrupt(on: [SIGTERM]) { stop.cancel() }
      do throws(SyncError) {
        let worker = try await Worker(orders, stop: stop)
        try await orders.edits ? worker.editAndSync() : worker.settle()
        withExtendedLifetime(termination) { ExitCode.success.endProcess() }
      } catch {
        StandardStream.error.line("\(error)")
        ExitCode.failure.endProcess()
      }
    }
  }

  /// The options of the command line.
  struct Orders {
    /// Whether it edits until it is stopped. Otherwise it only syncs until no change remains.
    let edits: Bool
    let store: String
    let server: String
    let name: String
    let seed: UInt64

    init?(_ arguments: [String]) {
      guard arguments.count == 6, ["edit", "settle"].contains(arguments[1]), let seed = UInt64(arguments[5])
      else { return nil }
      edits = arguments[1] == "edit"
      store = arguments[2]
      server = arguments[3]
      name = arguments[4]
      self.seed = seed
    }
  }
#else
  import CanonicalSyncToolSupport

  @main
  enum SyncWorker {
    static func main() {
      StandardStream.error.line(
        "canonical-sync-worker was built without the traits SQLite and Curl, which its store and its requests need."
      )
      ExitCode.failure.endProcess()
    }
  }
#endif
