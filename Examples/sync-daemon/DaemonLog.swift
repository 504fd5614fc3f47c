import CanonicalSync
import ToolSupport

/// Logs events to standard error, one a line.
struct DaemonLog: SyncObserver {
  let isJSON: Bool
  let logsPages: Bool

  func write(_ entry: LogEntry) {
    let line = entry.line(at: .now, asJSON: isJSON)
    // A program reads the JSON unchanged.
    if isJSON { StandardStream.error.write(line + "\n") } else { StandardStream.error.line(line) }
  }

  /// Logs the parts of a sync. The coordinator logs its beginning and end.
  func receive(_ event: SyncEvent) {
    switch event {
    case .started, .finished, .failed, .entityStarted, .entityFinished, .lost:
      break
    case .pageCommitted(let page):
      guard logsPages else { return }
      write(
        LogEntry(
          "page", ("type", .string(page.type.rawValue)), ("pages", .integer(page.counts.pages)),
          ("done", .integer(page.fetched)), ("of", page.total.map { .integer($0) })))
    case .retrying(let type, let attempt, let pause, let error):
      write(
        LogEntry(
          "retry", ("type", .string(type.rawValue)), ("attempt", .integer(attempt)),
          ("after-seconds", .double(pause / .seconds(1))), ("code", .string(error.code.description))))
    case .reset(let type, let reason):
      write(LogEntry("reset", ("type", .string(type.rawValue)), ("because", .string(reason.rawValue))))
    case .quarantined(let malformed):
      write(
        LogEntry(
          "quarantined", ("type", .string(malformed.type.rawValue)),
          ("key", malformed.key.map { .string($0) }),
          ("because", .string("\(malformed.reason)"))))
    case .sweepRefused(let type, let refusal):
      write(
        LogEntry("sweep.refused", ("type", .string(type.rawValue)), ("because", .string(refusal.sentence))))
    case .entityFailed(let type, let error):
      write(LogEntry("type.failed", ("type", .string(type.rawValue)), ("error", .string("\(error)"))))
    case .edited, .hidden, .conflict, .policyFailed, .clockAhead, .editRefused, .remoteStorageFull,
      .pushFinished:
      // This daemon's sources accept no edits, and a clean-up logs its own counts.
      break
    case .undecodable(let id, let reason):
      write(LogEntry("undecodable", ("id", .string("\(id)")), ("because", .string("\(reason)"))))
    }
  }
}

extension Timestamp {
  /// The time by the machine's own clock.
  static var now: Timestamp { ContinuousClock().timestamp }
}
