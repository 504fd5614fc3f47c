public import SyncModels
public import SyncPorts

extension SyncCoordinator {
  /// When a coordinator does what.
  public struct Options: Hashable, Sendable {
    /// How old the last attempt has to be for ``requestSyncIfStale(olderThan:)``, ``launch()`` and ``foreground()``.
    public var staleAfter: Duration
    /// How long a network that came back has to stay before it is trusted.
    public var settleTime: Duration
    /// How often it syncs at most, and how long it waits after failures.
    public var pacing: SyncPacing
    /// When it wants time in the background.
    public var background: BackgroundPolicy

    /// Describes a coordinator; the defaults suit an app.
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

  /// Where a coordinator stands, as one value.
  public struct Status: Hashable, Sendable {
    /// What is known of the network.
    public var network: NetworkStatus
    /// What it is doing.
    public var state = State.stopped
    /// When a sync was last begun, by this process or by one before.
    public var lastAttempt: Timestamp?
    /// When a sync was last completed.
    public var lastSuccess: Timestamp?
    /// How many attempts failed since.
    public var consecutiveFailures = 0
    /// How the last sync of this process ended, if it was not completed.
    public var lastProblem: Problem?
    /// The sync that comes next, as things stand.
    public var nextSync: NextSync?

    /// Whether requests may be made: the network is not known to be away.
    public var isOnline: Bool { network.connectivity != .offline }
  }

  /// What a coordinator is doing.
  public enum State: Hashable, Sendable {
    /// Nobody runs it; triggers are kept until somebody does.
    case stopped
    /// It waits for a trigger, or for a time to come.
    case idle
    /// It syncs, because of these.
    case syncing([SyncTrigger])
  }

  /// Why a sync was not completed.
  public enum Problem: Hashable, Sendable {
    /// It was stopped by wish.
    case stopped
    /// Remote, network or turn were not to be had: nothing to trouble anybody with.
    case unavailable(SyncError.Code)
    /// Something has to be seen to.
    case failed(SyncError.Code)
  }

  /// Something that a coordinator took note of or did.
  public enum Event: Sendable {
    /// The network changed.
    case network(NetworkStatus)
    /// Something asked for a sync, and this became of it.
    case trigger(SyncTrigger, SyncDecision)
    /// A sync starts, because of these.
    case started([SyncTrigger])
    /// The sync ended. If it failed, ``SyncTrigger/retry`` is the next trigger, and what becomes of that says when it is tried again.
    case finished([SyncTrigger], SyncOutcome)
    /// Clean-up was done, or failed.
    case cleanedUp(SyncError?)
    /// Time in the background was asked for, which begins then at the earliest.
    case submitted(BackgroundRequest, earliest: Timestamp)
    /// The system takes no such request.
    case notSubmitted(BackgroundRequest, SyncError)
    /// The time in the background was up before the work was done.
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
