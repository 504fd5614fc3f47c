import CanonicalSync

/// This app's sync policy: a minimum interval, and no sync while known to be offline.
package struct SyncPolicy: Hashable, Sendable {
  package enum Decision: Hashable, Sendable {
    case sync
    case wait(Duration)
    case stayOffline
  }

  /// The time between two attempts, failed ones included.
  package var interval: Duration
  /// The time until a server asks again for the lease that another one has.
  package var followingInterval: Duration

  package init(interval: Duration, followingInterval: Duration = .milliseconds(500)) {
    self.interval = interval
    self.followingInterval = followingInterval
  }

  /// Decides by its arguments alone.
  package func decide(
    lastAttempt: Timestamp?, at now: Timestamp, connectivity: Connectivity
  ) -> Decision {
    if connectivity == .offline { return .stayOffline }
    guard let lastAttempt else { return .sync }
    let age = now.duration(since: lastAttempt)
    // After the clock was set back, the last attempt is in the future and does not count.
    return age >= interval || age < .zero ? .sync : .wait(interval - age)
  }
}
