import CanonicalSync
import CanonicalSyncToolSupport
import Synchronization

/// Logs events to standard error, one a line.
final class DaemonLog: SyncObserver {
  private let isJSON: Bool
  private let logsPages: Bool
  private let pace = Mutex(ProgressPace())
  // The wall clock may be set back, and no line would be due for as long.
  private let began = ContinuousClock.now

  init(isJSON: Bool, logsPages: Bool) {
    self.isJSON = isJSON
    self.logsPages = logsPages
  }

  func write(_ entry: LogEntry) {
    if StandardStream.error.isQuiet, !entry.isWarning { return }
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
      if logsPages { write(Self.entry("page", page)) } else { noteProgress(page) }
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
          ("because", .string("\(malformed.reason)"))
        ).asWarning)
    case .sweepRefused(let type, let refusal):
      write(
        LogEntry("sweep.refused", ("type", .string(type.rawValue)), ("because", .string(refusal.sentence)))
          .asWarning)
    case .entityFailed(let type, let error):
      write(
        LogEntry("type.failed", ("type", .string(type.rawValue)), ("error", .string("\(error)"))).asWarning)
    case .edited, .moved, .annotated, .targetDeleted, .immutableAssigned, .hidden, .conflict, .policyFailed,
      .clockAhead, .editRefused, .remoteStorageFull, .pushFinished:
      // This daemon's sources accept no edits, and a clean-up logs its own counts.
      break
    case .undecodable(let id, let reason):
      write(
        LogEntry("undecodable", ("id", .string("\(id)")), ("because", .string("\(reason)"))).asWarning)
    }
  }

  /// Logs the progress of a long pass, every few seconds.
  private func noteProgress(_ page: SyncEvent.PageReport) {
    // A pass that fits into a second or two needs no line but its end.
    guard page.fetched > 0, page.elapsed >= .seconds(2) else { return }
    let progress = ProgressState(
      page.type.rawValue, done: page.fetched, total: page.total, elapsed: page.elapsed)
    guard pace.withLock({ $0.isDue(progress, at: ContinuousClock.now - began) }) else { return }
    write(Self.entry("progress", page))
  }

  private static func entry(_ event: String, _ page: SyncEvent.PageReport) -> LogEntry {
    let rate = page.changesPerSecond
    let state = ProgressState(
      page.type.rawValue, done: page.fetched, total: page.total, elapsed: page.elapsed)
    let left = rate == nil ? nil : state.remaining.map { ($0 / .seconds(1)).rounded() }
    return LogEntry(
      event, ("type", .string(page.type.rawValue)), ("pages", .integer(page.counts.pages)),
      ("done", .integer(page.fetched)), ("of", page.total.map { .integer($0) }),
      ("per-second", rate.map { .double($0.rounded()) }), ("seconds-left", left.map { .double($0) }))
  }
}

extension Timestamp {
  /// The time by the machine's own clock.
  static var now: Timestamp { ContinuousClock().timestamp }
}
