// Options that mean the same in every tool that syncs.

extension Option<Int> {
  /// How many records a page holds.
  package static func pageSize(upTo most: Int = 100_000) -> Option<Int> {
    .number("page-size", "N", "how many records a page holds", in: 1...most, default: 400)
  }

  /// How slow the remote pretends to be.
  package static var latency: Option<Int> {
    .number(
      "latency-ms", "N", "let the remote think for so long before each page", in: 0...600_000, default: 0)
  }
}

extension Option<Bool> {
  /// Whether everything is listed anew.
  package static var resync: Option<Bool> {
    .flag("resync", "list everything anew, whatever the store remembers")
  }

  /// Whether every event is written down.
  package static var log: Option<Bool> { .flag("log", "write every event to standard error, a line each") }

  /// Whether the counts come as JSON at the end.
  package static var jsonCounts: Option<Bool> {
    .flag("json", "end with one JSON object that holds the counts")
  }
}
