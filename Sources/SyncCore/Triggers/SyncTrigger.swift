public import SyncPorts

/// What asks for a sync.
public enum SyncTrigger: Hashable, Sendable {
  /// The app was launched, and what it brings along is loaded.
  case launch
  /// The app came to the foreground.
  case foreground
  /// Somebody asked, by hand or from code.
  case request
  /// Somebody asked, if the last attempt is older than this.
  case requestIfStale(olderThan: Duration)
  /// The network came back after it was lost, and stayed.
  case connectivityRestored
  /// The remote said that something changed.
  case pushSignal
  /// The system gave time in the background.
  case background(BackgroundRequest.Kind)
  /// An attempt failed: another one is wanted at once, and waits until the pause is over.
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

  /// Whether it need not wait for the pause after failures: there is a reason to hope, or no later occasion.
  var overtakesBackoff: Bool {
    switch self {
    case .request, .connectivityRestored, .background: true
    case .launch, .foreground, .requestIfStale, .pushSignal, .retry: false
    }
  }

  /// Whether the system gave time, and nobody asked.
  var isTimeInTheBackground: Bool {
    if case .background = self { true } else { false }
  }

  /// How old the last attempt has to be; `nil` for any age.
  func staleAge(byDefault age: Duration) -> Duration? {
    switch self {
    case .launch, .foreground: age
    case .requestIfStale(let age): age
    case .request, .connectivityRestored, .pushSignal, .background, .retry: nil
    }
  }
}
