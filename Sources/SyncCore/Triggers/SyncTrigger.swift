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
    case .launch, .foreground, .requestIfStale, .pushSignal, .retry: false
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
    case .request, .connectivityRestored, .pushSignal, .background, .retry: nil
    }
  }
}
