import SyncModels

/// Decides whether a sighting is recorded: at most one of a key in an interval.
struct ThrottleMachine: Hashable, Codable {
  /// When a sighting was last recorded.
  var recordedAt: Timestamp?

  /// What becomes of a sighting.
  enum Decision: Hashable {
    case record
    case cache(until: Timestamp)
  }

  /// Decides on a sighting at an instant.
  ///
  /// A clock that was set back is followed: the interval then begins anew, so that nothing waits longer than it, and nothing is recorded twice within it.
  mutating func see(at now: Timestamp, interval: Duration) -> Decision {
    guard let last = recordedAt, now.duration(since: last) < interval else {
      recordedAt = now
      return .record
    }
    recordedAt = min(last, now)
    return .cache(until: min(last, now) + interval)
  }
}
