// Options with the same meaning in every tool that syncs.

extension Option<Int> {
  /// The number of records in a page.
  package static func pageSize(upTo most: Int = 100_000) -> Option<Int> {
    .number("page-size", "N", "how many records a page holds", in: 1...most, default: 400)
  }

  /// How long the right to sync outlives a process that stopped.
  package static var lease: Option<Int> {
    .number(
      "lease-seconds", "N", "how long the right to sync outlives a process that stopped", in: 1...3600,
      default: 15)
  }

  /// The simulated latency of the remote.
  package static var latency: Option<Int> {
    .number(
      "latency-ms", "N", "delay each page of the remote by so many milliseconds", in: 0...600_000, default: 0)
  }
}

extension Option<Bool> {
  /// Whether everything is listed again.
  package static var resync: Option<Bool> {
    .flag("resync", "list everything again, whatever the store has")
  }

  /// Whether every event is logged.
  package static var log: Option<Bool> { .flag("log", "write every event to standard error, a line each") }

  /// Whether the counts are printed as JSON at the end.
  package static var jsonCounts: Option<Bool> {
    .flag("json", "end with one JSON object that holds the counts")
  }
}
