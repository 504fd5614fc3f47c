import SyncModels

/// Whether it is long enough since the last attempt that another is due.
struct StalenessGate: Hashable, Sendable {
  /// When a sync was last tried, with whatever result.
  var lastAttempt: Timestamp?

  /// From when on an attempt is due; `nil` if it is due now.
  ///
  /// An attempt in the future was stamped by a clock that has been set back since, and says nothing.
  func opens(olderThan age: Duration, at now: Timestamp) -> Timestamp? {
    guard let lastAttempt, lastAttempt <= now else { return nil }
    let opening = lastAttempt + age
    return opening <= now ? nil : opening
  }
}
