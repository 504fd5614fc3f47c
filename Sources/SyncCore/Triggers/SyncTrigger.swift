public import SyncModels
public import SyncPorts

/// A cause of a sync.
public enum SyncTrigger: Hashable, Sendable {
  /// The app was launched, and its ``Bootstrap`` is loaded.
  case launch
  /// The app came to the foreground.
  case foreground
  /// A request for a sync, by the user or the app's code.
  case request
  /// A request for a sync if the last attempt is older than this.
  case requestIfStale(olderThan: Duration)
  /// The network came back after it was lost, and stayed.
  case connectivityRestored
  /// The remote announced a change.
  case pushSignal
  /// The app has edited records, in this process or in another one.
  case edit
  /// The system gave time in the background.
  case background(BackgroundRequest.Kind)
  /// An attempt failed, and another one is due when the pause is over.
  case retry
}

extension SyncTrigger: CustomStringConvertible {
  /// A short name, for logs.
  public var description: String {
    switch self {
    case .launch: "launch"
    case .foreground: "foreground"
    case .request: "request"
    case .requestIfStale: "request-if-stale"
    case .connectivityRestored: "connectivity-restored"
    case .pushSignal: "push-signal"
    case .edit: "edit"
    case .background(let kind): "background-\(kind.rawValue)"
    case .retry: "retry"
    }
  }

  /// Whether a sync for the trigger may start during the pause after failures.
  ///
  /// Such a trigger gives a reason to expect success, or has no later occasion.
  var overtakesBackoff: Bool {
    switch self {
    case .request, .connectivityRestored, .background: true
    case .launch, .foreground, .requestIfStale, .pushSignal, .edit, .retry: false
    }
  }

  /// Whether the trigger is time in the background, without a request.
  var isTimeInTheBackground: Bool {
    if case .background = self { true } else { false }
  }

  /// The age that the last attempt must have; `nil` for any age.
  func staleAge(byDefault age: Duration) -> Duration? {
    switch self {
    case .launch, .foreground: age
    case .requestIfStale(let age): age
    case .request, .connectivityRestored, .pushSignal, .edit, .background, .retry: nil
    }
  }
}

/// The decision on a trigger.
public enum SyncDecision: Hashable, Sendable {
  /// The trigger is ignored.
  case ignored(Reason)
  /// A sync is planned.
  case planned(NextSync)
  /// A sync was planned already, and serves this trigger too.
  case joined(NextSync)
  /// A sync is running; one more follows it, whatever the number of triggers.
  case follows

  /// Whether a sync will serve the trigger.
  var isPlanned: Bool {
    if case .ignored = self { false } else { true }
  }

  /// The reason for ignoring a trigger.
  public enum Reason: Hashable, Sendable {
    /// The network is known to be away.
    ///
    /// A sync follows when the network is back, or no longer known to be away.
    case offline
    /// The last attempt is too recent until this time.
    case fresh(until: Timestamp)
    /// The first sync is on its way, or waits for ``SyncCoordinator/launch()``.
    case firstSyncIncomplete
    /// The remote asked for a pause until this time, for which a sync is planned.
    case remotePause(until: Timestamp)
  }
}

/// The next planned sync.
public struct NextSync: Hashable, Sendable {
  /// When the sync starts, as known now. It waits for a running sync to end.
  public var at: Timestamp
  /// The triggers of the sync, the first one first.
  public var triggers: [SyncTrigger]
  /// What the sync waits for; `nil` for nothing.
  public var waitsFor: Wait?

  /// Creates a planned sync.
  public init(at: Timestamp, triggers: [SyncTrigger], waitsFor: Wait? = nil) {
    self.at = at
    self.triggers = triggers
    self.waitsFor = waitsFor
  }

  /// A condition that a planned sync waits for.
  public enum Wait: Hashable, Sendable {
    /// The network has to stay for a while first.
    case settling
    /// Further signals of the same kind may follow.
    case gathering
    /// The rate limit is reached.
    case rateLimit
    /// The pause after this number of consecutive failures has to end.
    case failures(Int)
    /// The pause that the remote asked for has to end.
    case remotePause
  }
}

/// The outcome of a sync that a ``SyncCoordinator`` started.
public enum SyncOutcome: Sendable {
  /// The sync was completed. The result lists types whose own pass failed.
  case completed(SyncResult)
  /// The sync was stopped on request. All completed work is saved.
  case stopped(SyncResult)
  /// The remote, the network or the lease was unavailable.
  ///
  /// This is not a failure: local data stay in use, and another attempt follows.
  case unavailable(SyncError)
  /// The sync failed for a reason that needs attention.
  case failed(SyncError)
}

extension SyncOutcome {
  init(_ result: Result<SyncResult, SyncError>) {
    switch result {
    case .success(let result):
      self = result.wasCancelled ? .stopped(result) : .completed(result)
    case .failure(let error) where error.code == .cancelled:
      self = .stopped(SyncResult(wasCancelled: true))
    case .failure(let error) where error.code.isQuiet:
      self = .unavailable(error)
    case .failure(let error):
      self = .failed(error)
    }
  }

  /// Returns the outcome as the pacing counts it.
  ///
  /// - Parameter isExpired: Whether the time in the background was up.
  func ending(isExpired: Bool) -> TriggerMachine.Ending {
    switch self {
    case .completed(let result): .synced(retryAfter: result.failures.compactMap(\.error.retryAfter).max())
    case .stopped: isExpired ? .expired : .stopped
    case .unavailable(let error) where error.code == .offline: .offline
    case .unavailable(let error), .failed(let error): .failed(retryAfter: error.retryAfter)
    }
  }
}

extension SyncError.Code {
  /// Whether the condition passes by itself and needs no attention.
  fileprivate var isQuiet: Bool {
    self == .remoteUnavailable || self == .offline || self == .syncAlreadyInProgress || self == .leaseLost
      || self == .storeBusy
  }
}

// The values as lines of a log: stable names with their values, as `sync-daemon` writes them.

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

extension SyncResult {
  fileprivate var seconds: String { " seconds=\((duration.inSeconds * 1000).rounded() / 1000)" }
}

extension Timestamp {
  /// The time as a log shows it.
  var inUTC: String { rfc3339(fractionDigits: 0) ?? description }
}
