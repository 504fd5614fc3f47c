public import SyncModels
public import SyncPorts

extension SyncCoordinator {
  /// The timing of a coordinator.
  public struct Options: Hashable, Sendable {
    /// The age of the last attempt from which a sync is due.
    ///
    /// It applies to ``requestSyncIfStale(olderThan:)``, ``launch()`` and ``foreground()``.
    public var staleAfter: Duration
    /// How long a network that came back has to stay before it counts.
    public var settleTime: Duration
    /// The rate limit, and the pauses after failures.
    public var pacing: SyncPacing
    /// When the coordinator requests time in the background.
    public var background: BackgroundPolicy

    /// Creates options; the defaults suit an app.
    public init(
      staleAfter: Duration = .seconds(300), settleTime: Duration = .milliseconds(2500),
      pacing: SyncPacing = SyncPacing(), background: BackgroundPolicy = BackgroundPolicy()
    ) {
      self.staleAfter = staleAfter
      self.settleTime = settleTime
      self.pacing = pacing
      self.background = background
    }
  }

  /// The state of a coordinator at one moment.
  public struct Status: Hashable, Sendable {
    /// The last known status of the network.
    public var network: NetworkStatus
    /// The coordinator's current activity.
    public var state = State.stopped
    /// When a sync last began, in this process or an earlier one.
    public var lastAttempt: Timestamp?
    /// When a sync was last completed.
    public var lastSuccess: Timestamp?
    /// The number of failed attempts since the last success.
    public var consecutiveFailures = 0
    /// Why the last sync of this process was not completed; `nil` if it was.
    public var lastProblem: Problem?
    /// The next planned sync, as known now.
    public var nextSync: NextSync?

    /// Whether requests may be made: the network is not known to be away.
    public var isOnline: Bool { network.connectivity != .offline }
  }

  /// An activity of a coordinator.
  public enum State: Hashable, Sendable {
    /// ``SyncCoordinator/run()`` is not running; triggers are kept until it runs.
    case stopped
    /// The coordinator waits for a trigger or for a planned time.
    case idle
    /// A sync is running, because of these triggers.
    case syncing([SyncTrigger])
  }

  /// The reason why a sync was not completed.
  public enum Problem: Hashable, Sendable {
    /// The sync was stopped on request.
    case stopped
    /// The remote, the network or the lease was unavailable. No action is needed.
    case unavailable(SyncError.Code)
    /// The sync failed in a way that needs attention.
    case failed(SyncError.Code)
  }

  /// An observation or an action of a coordinator.
  public enum Event: Sendable {
    /// The network status changed.
    case network(NetworkStatus)
    /// A trigger was reported, with the decision on it.
    case trigger(SyncTrigger, SyncDecision)
    /// A sync started, because of these triggers.
    case started([SyncTrigger])
    /// The sync ended.
    ///
    /// After a failure, ``SyncTrigger/retry`` is the next trigger. The decision on it gives the
    /// time of the next attempt.
    case finished([SyncTrigger], SyncOutcome)
    /// Clean-up was completed, or failed with an error.
    case cleanedUp(SyncError?)
    /// A background request was submitted, with the earliest time that it can begin.
    case submitted(BackgroundRequest, earliest: Timestamp)
    /// The system refused a background request.
    case notSubmitted(BackgroundRequest, SyncError)
    /// Background time ended before the work was done.
    case expired(BackgroundRequest.Kind)
  }
}

extension SyncCoordinator.Problem {
  init?(_ outcome: SyncOutcome) {
    switch outcome {
    case .completed: return nil
    case .stopped: self = .stopped
    case .unavailable(let error): self = .unavailable(error.code)
    case .failed(let error): self = .failed(error.code)
    }
  }
}
