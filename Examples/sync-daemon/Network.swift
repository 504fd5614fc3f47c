import CanonicalSync
import NetworkAdapters

/// The connectivity monitor, if the options ask for one.
struct Network {
  /// The monitor; `nil` if connectivity is irrelevant.
  ///
  /// The built-in schedule and directories are local.
  let monitor: (any ConnectivityMonitor)?
  private let probe: ProbeMonitor?

  init(_ options: DaemonOptions) throws(SyncError) {
    probe = options.probe.map { ProbeMonitor(host: $0.host, port: $0.port) }
    guard options.watchesNetwork else {
      monitor = probe
      return
    }
    #if os(Linux)
      monitor = try NetlinkMonitor()
    #else
      throw SyncError(
        .invalidConfiguration, during: "starting to watch the network",
        "--watch-network goes by the Linux kernel's messages; here, use --probe.")
    #endif
  }

  /// Runs the probe, if there is one, for the life of the calling task.
  func run() async { await probe?.run() }
}
