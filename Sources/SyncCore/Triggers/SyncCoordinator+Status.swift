public import SyncModels
public import SyncPorts

extension SyncCoordinator {
  /// The timing of a coordinator.
  public struct Options: Hashable, Sendable {
    /// The age of the last attempt from which a sync is due.
    ///
    /// It applies to ``requestSyncIfStale(olderThan:)``, ``launch()`` and ``foreground()``.
    public var staleAfter: Duration
    /// How often to sync while ``SyncCoordinator/run()`` runs, at least a second; `nil` for no such trigger.
    ///
    /// A sync is due once the last attempt is so old, whatever started that one. Pauses after failures
    /// may be longer.
    public var every: Duration?
    /// How long a network that came back has to stay before it counts.
    public var settleTime: Duration
    /// The rate limit, and the pauses after failures.
    public var pacing: SyncPacing
    /// When the coordinator requests time in the background.
    public var background: BackgroundPolicy
    /// Whether syncs use a mobile network.
    ///
    /// Triggers on a network that is not allowed wait as for a network that is away. A sync that runs
    /// is not stopped, and the app's own ``SyncEngine/sync(_:token:)`` may use every network.
    public var allowsCellular: Bool
    /// Whether syncs use a network on which the user asks for little data; see ``allowsCellular``.
    public var allowsConstrained: Bool
    /// Whether edits in the outbox are pushed by themselves, soon after they are made.
    ///
    /// The edits of other processes on the same store are heard too, if it is a shared store.
    public var pushesEdits: Bool

    /// Creates options; the defaults suit an app.
    public init(
      staleAfter: Duration = .seconds(300), every: Duration? = nil,
      settleTime: Duration = .milliseconds(2500),
      pacing: SyncPacing = SyncPacing(), background: BackgroundPolicy = BackgroundPolicy(),
      allowsCellular: Bool = true, allowsConstrained: Bool = true, pushesEdits: Bool = true
    ) {
      self.staleAfter = staleAfter
      self.every = every
      self.settleTime = settleTime
      self.pacing = pacing
      self.background = background
      self.allowsCellular = allowsCellular
      self.allowsConstrained = allowsConstrained
      self.pushesEdits = pushesEdits
    }

    /// The connectivity that a network's status means for syncs.
    func connectivity(by status: NetworkStatus) -> Connectivity {
      let isRefused =
        !allowsCellular && status.interface == .cellular || !allowsConstrained && status.isConstrained
      return isRefused ? .offline : status.connectivity
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
    /// A signal named types that the schema lacks. They were left out.
    case unknownTypes([RecordType])
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

extension SyncCoordinator.Event: CustomStringConvertible {
  /// The event as one line.
  public var description: String { text.shown() }

  private var text: String {
    switch self {
    case .network(let status):
      "network is=\(status.connectivity.rawValue)" + (status.interface.map { " over=\($0.rawValue)" } ?? "")
    case .trigger(let trigger, let decision): "trigger is=\(trigger) \(decision)"
    case .unknownTypes(let types):
      "signal.unknown types=\(types.map(\.rawValue).joined(separator: ","))"
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
