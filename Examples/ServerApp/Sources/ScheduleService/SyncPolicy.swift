import CanonicalSync

/// This app's own rule of when to sync: at most every so often, and not while the network is known to be away.
package struct SyncPolicy: Hashable, Sendable {
  package enum Decision: Hashable, Sendable {
    case sync
    case wait(Duration)
    case stayOffline
  }

  /// How much time passes between two attempts, failed ones included.
  package var interval: Duration

  package init(interval: Duration) {
    self.interval = interval
  }

  /// Decides by what is known, and asks nobody.
  package func decide(
    lastAttempt: Timestamp?, at now: Timestamp, connectivity: Connectivity
  ) -> Decision {
    if connectivity == .offline { return .stayOffline }
    guard let lastAttempt else { return .sync }
    let age = now.duration(since: lastAttempt)
    // A clock that was set back makes the attempt one of the future: it says nothing then.
    return age >= interval || age < .zero ? .sync : .wait(interval - age)
  }
}
