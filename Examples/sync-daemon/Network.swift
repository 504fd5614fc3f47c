import CanonicalSync
import NetworkAdapters

/// Who knows whether the network is there, if anybody is to know.
struct Network {
  /// `nil` where it does not matter: the built-in schedule and directories are here whatever the network does.
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

  /// Finds out, as long as the calling task lives, where finding out takes an effort.
  func run() async { await probe?.run() }
}
