import SyncModels

/// Decides whether the last attempt is old enough for another one.
struct StalenessGate: Hashable, Sendable {
  /// When a sync was last attempted, whatever its result.
  var lastAttempt: Timestamp?

  /// The time from which an attempt is due; `nil` if it is due now.
  ///
  /// An attempt in the future was stamped by a clock that has been set back since, and is ignored.
  func opens(olderThan age: Duration, at now: Timestamp) -> Timestamp? {
    guard let lastAttempt, lastAttempt <= now else { return nil }
    let opening = lastAttempt + age
    return opening <= now ? nil : opening
  }
}
