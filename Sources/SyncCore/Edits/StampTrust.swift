import SyncModels

/// The rule for trusting the stamps of other replicas.
///
/// No edit is written later than now, nor later than the remote took it. A stamp that is later than
/// that by more than the bound comes from a wrong clock. The exception is a record whose known edit
/// is as late: both stamps are then of one clock, and can be compared.
struct StampTrust {
  var now: Timestamp
  /// The tolerance; see ``EditOptions/maximumClockSkew``.
  var bound: Duration
  /// The stamp of the edit that others are compared with.
  var known: EditStamp?

  /// Returns the trusted stamp of a remote state.
  ///
  /// `distrusted` is how far ahead the stated stamp was, if it was not trusted.
  func stamp(of remoteState: RemoteState, _ entity: Entity) -> (trusted: EditStamp, distrusted: Duration?) {
    let taken = remoteState.version.modifiedAt
    let modified = EditStamp(physical: taken)
    let stated = remoteState.stamp(by: entity) ?? modified
    let limit = Self.limit(now, bound, known)
    if stated.physical > limit {
      let trusted = modified.physical <= limit ? modified : EditStamp(physical: now)
      return (trusted, stated.physical.duration(since: now))
    }
    if Self.isTooLate(stated, takenAt: taken, bound: bound, known: known) {
      return (modified, stated.physical.duration(since: taken))
    }
    return (stated, nil)
  }

  /// Whether a stamp is later than the remote's time of its copy allows.
  static func isTooLate(
    _ stamp: EditStamp, takenAt taken: Timestamp, bound: Duration, known: EditStamp? = nil
  ) -> Bool {
    // Some remotes do not report when they took a copy.
    taken.microseconds > 0 && stamp.physical > limit(taken, bound, known)
  }

  private static func limit(_ instant: Timestamp, _ bound: Duration, _ known: EditStamp?) -> Timestamp {
    max(instant, known?.physical ?? instant) + bound
  }
}
