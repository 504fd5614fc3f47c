import CanonicalSyncToolSupport

/// The options of the command line.
struct DaemonOptions {
  let store: String
  let data: String?
  let interval: Duration
  let syncsOnce: Bool
  let watchesNetwork: Bool
  let probe: ProbeTarget?
  let pageSize: Int
  let lease: Duration
  let latency: Duration
  let isJSON: Bool
  let service: ServiceOptions

  /// Parses the command line.
  ///
  /// After a request for help, or a mistake, it prints an answer and ends the process.
  init() {
    let store = Option<String>.requiredText(
      "store", OpenedStore.placeholder, OpenedStore.meaning)
    let data = Option<String?>.text(
      "data", "DIR",
      "keep in step with the <type>.ndjson files of a directory instead of the built-in schedule")
    let interval = Option<Int>.number(
      "interval", "SECONDS",
      "the least time before each further sync; up to a tenth is added at random",
      in: 1...86_400, default: 300)
    let once = Option<Bool>.flag("once", "sync once, and end")
    let watch = Option<Bool>.flag(
      "watch-network",
      "sync when the network comes back, and never without it, by the Linux kernel's reports")
    let probe = Option<String?>.text(
      "probe", "HOST:PORT", "the same, by whether a host answers on a port; tried every 30 seconds")
    let pageSize = Option<Int>.pageSize()
    let lease = Option<Int>.lease
    let latency = Option<Int>.latency
    let json = Option<Bool>.jsonCounts

    let command = Command(
      "sync-daemon",
      "Keeps a store in step with its source until SIGTERM (exit code 0) or Ctrl-C, and logs to standard error.",
      options: [
        store, data, interval, once, watch, probe, pageSize, lease, latency, json,
      ] + ServiceOptions.all,
      examples: [
        ("sync-daemon --store games.sqlite", "the built-in schedule, every five minutes"),
        ("sync-daemon --store games.sqlite --data DIR --interval 60", "the records of DIR/<type>.ndjson"),
        ("sync-daemon --store games.sqlite --once --json-log", "one sync, for cron or a timer"),
      ])
    let arguments = command.argumentsOrExit()
    self.store = arguments[store]
    self.data = arguments[data]
    self.interval = .seconds(arguments[interval])
    self.syncsOnce = arguments[once]
    self.watchesNetwork = arguments[watch]
    self.probe = arguments[probe].map { text in
      if let target = ProbeTarget(text) { return target }
      command.refuse(UsageError("--probe must be HOST:PORT, not \(text)"))
    }
    self.pageSize = arguments[pageSize]
    self.lease = .seconds(arguments[lease])
    self.latency = .milliseconds(arguments[latency])
    self.isJSON = arguments[json]
    self.service = ServiceOptions(arguments)
    if watchesNetwork, self.probe != nil {
      command.refuse(
        UsageError("--watch-network and --probe determine the same thing; choose one"))
    }
  }
}

/// A host and port to probe.
struct ProbeTarget: Hashable {
  let host: String
  let port: UInt16

  /// Parses `host:port`, with an IPv6 address in brackets.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty else { return nil }
    self.host = String(host)
    self.port = port
  }
}
