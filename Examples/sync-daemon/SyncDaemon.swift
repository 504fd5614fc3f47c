import CanonicalSyncToolSupport

#if SQLite
  import CanonicalSync

  /// Keeps an SQLite store in step with its source until it is stopped.
  @main
  enum SyncDaemon {
    static func main() async {
      let options = DaemonOptions()
      await Service.main(options.service, isJSON: options.isJSON) { (service) throws(SyncError) in
        try await Daemon(options, service).run()
      }
    }
  }
#else
  @main
  enum SyncDaemon {
    static func main() {
      StandardStream.error.line("sync-daemon was built without the trait SQLite, which its store needs.")
      ExitCode.failure.endProcess()
    }
  }
#endif
