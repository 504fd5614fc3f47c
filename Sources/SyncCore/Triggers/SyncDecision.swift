public import SyncModels

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
