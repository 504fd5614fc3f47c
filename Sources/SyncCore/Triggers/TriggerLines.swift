import SyncModels
import SyncPorts

// The coordinator's values as lines of a log: stable names with their values, as `sync-daemon`
// writes them.

extension SyncDecision: CustomStringConvertible {
  /// The decision as the end of a line, such as `decision=ignored because=offline`.
  public var description: String {
    switch self {
    case .ignored(let reason): "decision=ignored \(reason)"
    case .planned(let next): "decision=planned \(next)"
    case .joined(let next): "decision=joined \(next)"
    case .follows: "decision=follows"
    }
  }
}

extension SyncDecision.Reason: CustomStringConvertible {
  /// The reason as the end of a line.
  public var description: String {
    switch self {
    case .offline: "because=offline"
    case .fresh(let until): "because=fresh until=\(until.inUTC)"
    case .firstSyncIncomplete: "because=first-sync-incomplete"
    case .remotePause(let until): "because=remote-pause until=\(until.inUTC)"
    }
  }
}

extension NextSync: CustomStringConvertible {
  /// The start, and what the sync waits for, as the end of a line.
  public var description: String { "start=\(at.inUTC)" + (waitsFor.map { " waits-for=\($0)" } ?? "") }
}

extension NextSync.Wait: CustomStringConvertible {
  /// The name of the condition.
  public var description: String {
    switch self {
    case .settling: "network-to-settle"
    case .gathering: "more-signals"
    case .rateLimit: "rate-limit"
    case .failures(let count): "pause-after-failures failures=\(count)"
    case .remotePause: "remote-pause"
    }
  }
}

extension SyncOutcome: CustomStringConvertible {
  /// The outcome as the end of a line.
  public var description: String { text.shown() }

  private var text: String {
    switch self {
    case .completed(let result):
      "outcome=\(result.failures.isEmpty ? "completed" : "partly")\(result.seconds)"
    case .stopped(let result): "outcome=stopped\(result.seconds)"
    case .unavailable(let error): "outcome=unavailable code=\(error.code) error=\"\(error)\""
    case .failed(let error): "outcome=failed code=\(error.code) error=\"\(error)\""
    }
  }
}

extension SyncCoordinator.Event: CustomStringConvertible {
  /// The event as one line.
  public var description: String { text.shown() }

  private var text: String {
    switch self {
    case .network(let status):
      "network is=\(status.connectivity.rawValue)" + (status.interface.map { " over=\($0.rawValue)" } ?? "")
    case .trigger(let trigger, let decision): "trigger is=\(trigger) \(decision)"
    case .started(let triggers): "sync.started for=\(triggers.map(\.description).joined(separator: ","))"
    case .finished(_, let outcome): "sync.finished \(outcome)"
    case .cleanedUp(nil): "cleaned-up outcome=completed"
    case .cleanedUp(let error?): "cleaned-up outcome=failed code=\(error.code) error=\"\(error)\""
    case .submitted(let request, let earliest):
      "background.asked for=\(request.kind.rawValue) not-before=\(earliest.inUTC)"
    case .notSubmitted(let request, let error):
      "background.refused for=\(request.kind.rawValue) error=\"\(error)\""
    case .expired(let kind): "background.expired for=\(kind.rawValue)"
    }
  }
}

extension SyncResult {
  fileprivate var seconds: String { " seconds=\((duration.inSeconds * 1000).rounded() / 1000)" }
}

extension Timestamp {
  fileprivate var inUTC: String { rfc3339(fractionDigits: 0) ?? description }
}
