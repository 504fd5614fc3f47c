package import CanonicalSync
import Synchronization

/// The log of a service: events on standard error, one a line, with their times.
package final class ServiceLog: SyncObserver {
  private struct State {
    var pace = ProgressPace()
    /// What this poll and the previous one have told; `nil` for a service without polls.
    var told: (now: Set<String>, before: Set<String>)?
  }
  private let isJSON: Bool
  private let logsPages: Bool
  private let state = Mutex(State())
  // The wall clock may be set back, and no line would be due for as long.
  private let began = ContinuousClock.now
  /// The most lines of one poll that are compared with those of the next one.
  private static let mostCompared = 10_000

  init(isJSON: Bool, logsPages: Bool) {
    self.isJSON = isJSON
    self.logsPages = logsPages
  }

  /// Writes an entry.
  package func write(_ entry: LogEntry) {
    if StandardStream.error.isQuiet, !entry.isWarning { return }
    let line = entry.line(at: .now, asJSON: isJSON)
    // A program reads the JSON unchanged.
    if isJSON { StandardStream.error.write(line + "\n") } else { StandardStream.error.line(line) }
  }

  /// Begins another poll. ``tell(_:)`` leaves out what the previous one has told.
  package func beginPoll() {
    state.withLock { $0.told = (now: [], before: $0.told?.now ?? []) }
  }

  /// Writes an entry, unless the previous poll has told the same.
  ///
  /// - Parameter meaning: What makes it the same; `nil` for all of it but the time.
  package func tell(_ entry: LogEntry, as meaning: String? = nil) {
    let isNew = state.withLock { state in
      guard let told = state.told else { return true }
      let text = meaning ?? entry.line(at: Timestamp(milliseconds: 0), asJSON: true)
      if told.now.count < Self.mostCompared { state.told?.now.insert(text) }
      return !told.before.contains(text)
    }
    if isNew { write(entry) }
  }

  /// Writes a sentence for a person.
  package func notice(_ text: String, isWarning: Bool = false) {
    var entry = LogEntry("notice", ("text", .string(text)))
    (entry.words, entry.isWarning) = (text, isWarning)
    tell(entry)
  }

  /// Logs the parts of a sync. The service logs its beginning and end.
  package func receive(_ event: SyncEvent) {
    switch event {
    case .started, .finished, .failed, .entityStarted, .entityFinished, .lost, .edited, .annotated, .hidden,
      .conflict(_, false), .pushCommitted, .pushFinished:
      // A clean-up logs its own counts, and the end of a sync those of its push.
      break
    case .pageCommitted(let page):
      if logsPages { write(Self.entry("page", page)) } else { noteProgress(page) }
    case .retrying(let type, let attempt, let pause, let error):
      tell(
        LogEntry(
          "retry", ("type", .string(type.rawValue)), ("attempt", .integer(attempt)),
          ("after-seconds", .double((pause / .milliseconds(1)).rounded() / 1000)),
          ("code", .string(error.code.description))), as: "retry \(type) \(attempt) \(error.code)")
    case .reset(let type, let reason):
      write(LogEntry("reset", ("type", .string(type.rawValue)), ("because", .string(reason.rawValue))))
    case .quarantined(let malformed):
      tell(
        LogEntry(
          "quarantined", ("type", .string(malformed.type.rawValue)),
          ("key", malformed.key.map { .string($0) }),
          ("because", .string("\(malformed.reason)"))
        ).asWarning)
    case .sweepRefused(let type, let refusal):
      tell(
        LogEntry("sweep.refused", ("type", .string(type.rawValue)), ("because", .string(refusal.sentence)))
          .asWarning)
    case .entityFailed(let type, let error):
      tell(
        LogEntry("type.failed", ("type", .string(type.rawValue)), ("error", .string("\(error)"))).asWarning)
    case .undecodable(let id, let reason):
      tell(Self.entry("undecodable", id, "\(reason)").asWarning)
    case .editRefused(let id, let reason):
      tell(Self.entry("edit.refused", id, reason).asWarning)
    case .remoteStorageFull(let pending):
      tell(LogEntry("remote.full", ("edits", .integer(pending))).asWarning)
    case .policyFailed(let id, let reason):
      tell(Self.entry("policy.failed", id, reason).asWarning)
    case .immutableAssigned(let id):
      tell(Self.entry("immutable.assigned", id).asWarning)
    case .clockAhead(let id, let ahead):
      tell(Self.entry("clock.ahead", id, "it is \(ahead.roughly) ahead of this machine's clock").asWarning)
    case .conflict(let conflict, true):
      write(Self.entry("conflict", conflict.id, "\(conflict.reason)"))
    case .targetDeleted(let id, let rule, let referrers):
      var entry = Self.entry("target.deleted", id, rule.rawValue)
      entry.fields.append(("referrers", .integer(referrers.count)))
      write(entry)
    case .moved(let id, let new):
      write(LogEntry("moved", ("id", .string("\(id)")), ("to", .string(new.key))))
    }
  }

  /// Logs the progress of a long pass, every few seconds.
  private func noteProgress(_ page: SyncEvent.PageReport) {
    // A pass that fits into a second or two needs no line but its end.
    guard page.fetched > 0, page.elapsed >= .seconds(2) else { return }
    let progress = ProgressState(
      page.type.rawValue, done: page.fetched, total: page.total, elapsed: page.elapsed)
    guard state.withLock({ $0.pace.isDue(progress, at: ContinuousClock.now - began) }) else { return }
    write(Self.entry("progress", page))
  }

  private static func entry(_ event: String, _ id: RecordID, _ reason: String? = nil) -> LogEntry {
    LogEntry(event, ("id", .string("\(id)")), ("because", reason.map { .string($0) }))
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
