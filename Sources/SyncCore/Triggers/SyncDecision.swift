public import SyncModels

/// What became of a trigger.
public enum SyncDecision: Hashable, Sendable {
  /// Nothing is done.
  case ignored(Reason)
  /// A sync is planned.
  case planned(NextSync)
  /// A sync was planned already, and serves this trigger too.
  case joined(NextSync)
  /// A sync is running; one more follows it, however many ask.
  case follows

  /// Why nothing is done.
  public enum Reason: Hashable, Sendable {
    /// The network is known to be away; a sync follows when it is back, or no longer known to be away.
    case offline
    /// The last attempt is not old enough until then.
    case fresh(until: Timestamp)
    /// The first sync is on its way, or waits for ``SyncCoordinator/launch()``.
    case firstSyncIncomplete
    /// The remote asked to be left alone until then; a sync is planned for when it may be asked.
    case remotePause(until: Timestamp)
  }
}

/// The sync that comes next.
public struct NextSync: Hashable, Sendable {
  /// When it starts, as things stand; a sync that is running is waited for.
  public var at: Timestamp
  /// What asked for it, the first one first.
  public var triggers: [SyncTrigger]
  /// What it waits for; `nil` if for nothing.
  public var waitsFor: Wait?

  /// Describes a planned sync.
  public init(at: Timestamp, triggers: [SyncTrigger], waitsFor: Wait? = nil) {
    self.at = at
    self.triggers = triggers
    self.waitsFor = waitsFor
  }

  /// What a planned sync waits for.
  public enum Wait: Hashable, Sendable {
    /// The network has to stay for a while first.
    case settling
    /// Further signals of the same kind.
    case gathering
    /// There were too many syncs of late.
    case rateLimit
    /// So many attempts failed one after another.
    case failures(Int)
    /// The remote asked to be left alone.
    case remotePause
  }
}
