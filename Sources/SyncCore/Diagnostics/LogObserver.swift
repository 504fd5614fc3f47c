public import SyncModels
public import SyncPorts

/// Writes each event as one log line: a stable name and `key=value` pairs.
///
/// Ids and reasons appear; record contents and secrets never do.
public struct LogObserver: SyncObserver {
  private let write: @Sendable (String) -> Void

  /// Creates an observer that logs to a function, which is called on the event's task.
  public init(_ write: @escaping @Sendable (String) -> Void) {
    self.write = write
  }

  /// Writes the event's line.
  public func receive(_ event: SyncEvent) {
    write(event.description)
  }
}

extension SyncEvent: CustomStringConvertible {
  /// The event as one line: its stable name, and its values by theirs.
  public var description: String { logLine.shown() }
}

extension SyncEvent {
  /// The event as one line.
  package var logLine: String {
    switch self {
    case .started(let fence):
      "sync.started fence=\(fence)"
    case .entityStarted(let type, let coverage, let isResumed):
      "sync.entity.started type=\(type) lists=\(coverage.rawValue) resumed=\(isResumed)"
    case .pageCommitted(let page):
      "sync.page.committed type=\(page.type) \(page.counts.logPairs) progress=\(page.fetched)"
        + (page.total.map { "/\($0)" } ?? "")
    case .retrying(let type, let attempt, let pause, let error):
      "sync.retrying type=\(type) attempt=\(attempt) after=\(pause.rounded) code=\(error.code)"
    case .reset(let type, let reason):
      "sync.reset type=\(type) reason=\(reason.rawValue)"
    case .quarantined(let malformed):
      "sync.quarantined type=\(malformed.type) key=\(malformed.key ?? "?") at=\"\(malformed.location ?? "?")\""
        + " reason=\"\(malformed.reason)\""
    case .edited(.records(let ids)):
      "edit.saved records=\(ids.count)"
    case .edited(.everything):
      "edit.saved records=many"
    case .targetDeleted(let id, let rule, let referrers):
      "edit.target.deleted id=\(id) rule=\(rule.rawValue) referrers=\(referrers.count)"
    case .moved(let id, let new):
      "edit.moved id=\(id) key=\(new.key)"
    case .annotated(let id):
      "value.saved id=\(id)"
    case .hidden(.records(let ids)):
      "cleanup.hidden records=\(ids.count)"
    case .hidden(.everything):
      "cleanup.hidden records=many"
    case .conflict(let conflict, let isSignificant):
      "edit.conflict id=\(conflict.id) winner=\(conflict.winner.rawValue) significant=\(isSignificant)"
        + " reason=\"\(conflict.reason)\""
    case .policyFailed(let id, let reason):
      "edit.policy.failed id=\(id) reason=\"\(reason)\""
    case .immutableAssigned(let id):
      "edit.immutable.assigned id=\(id)"
    case .clockAhead(let id, let ahead):
      "edit.clock.ahead id=\(id) by=\(ahead.rounded)"
    case .editRefused(let id, let reason):
      "push.refused id=\(id) reason=\"\(reason)\""
    case .remoteStorageFull(let pending):
      "push.remote.full pending=\(pending)"
    case .pushCommitted(let done, let total):
      "push.committed done=\(done) total=\(total)"
    case .pushFinished(let counts):
      "push.finished \(counts.logPairs)"
    case .sweepRefused(let type, let refusal):
      "sync.sweep.refused type=\(type) reason=\"\(refusal.sentence)\""
    case .entityFinished(let type, let counts):
      "sync.entity.finished type=\(type) \(counts.logPairs)"
    case .entityFailed(let type, let error):
      "sync.entity.failed type=\(type) code=\(error.code) message=\"\(error)\""
    case .undecodable(let id, let reason):
      "sync.undecodable id=\(id) reason=\"\(reason)\""
    case .finished(let result):
      "sync.finished cancelled=\(result.wasCancelled) seconds=\(result.duration.rounded.inSeconds) \(result.total.logPairs)"
    case .failed(let error, _):
      "sync.failed code=\(error.code) message=\"\(error)\""
    case .lost(let count):
      "sync.events.lost count=\(count)"
    }
  }
}

extension Duration {
  /// The duration to the millisecond.
  fileprivate var rounded: Duration { .milliseconds((inSeconds * 1000).rounded()) }
}

extension SyncCounts {
  /// The counts that are not zero, by their stable names.
  fileprivate var logPairs: String {
    Self.names.filter { $0.value(self) != 0 }.map { "\($0.name)=\($0.value(self))" }
      .joined(separator: " ")
  }
}

extension PushCounts {
  /// The counts that are not zero, by their stable names.
  fileprivate var logPairs: String {
    Self.names.filter { $0.value(self) != 0 }.map { "\($0.name)=\($0.value(self))" }
      .joined(separator: " ")
  }
}

extension SweepRefusal {
  /// Why a sweep was refused, for a person.
  public var sentence: String {
    switch self {
    case .massDeletion(let missing, let live):
      "\(missing) of \(Counted(live, "record")) \(Counted(missing, "is", "are").words) gone from the remote; removing that many needs confirmation"
    case .unidentifiedMalformed(let count):
      "\(Counted(count, "unreadable record")) may be any of those that seem to be gone; mend or remove \(Counted(count, "it", "them").words) at the remote"
    }
  }
}
