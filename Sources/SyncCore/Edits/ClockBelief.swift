import SyncModels

/// The rule for trusting the stamps of other replicas.
///
/// No edit is written later than now, nor later than the remote took it. A stamp that is later than
/// that by more than the bound comes from a wrong clock. The exception is a record whose known edit
/// is as late: both stamps are then of one clock, and can be compared.
struct ClockBelief {
  var now: Timestamp
  /// The tolerance; see ``EditOptions/maximumClockSkew``.
  var bound: Duration
  /// The stamp of the edit that others are compared with.
  var known: EditStamp?

  /// Returns the trusted stamp of a remote state.
  ///
  /// `disbelieved` is how far ahead the stated stamp was, if it was not trusted.
  func stamp(of remoteState: RemoteState, _ entity: Entity) -> (believed: EditStamp, disbelieved: Duration?) {
    let taken = remoteState.version.modifiedAt
    let modified = EditStamp(physical: taken)
    let stated = remoteState.payload.flatMap { entity.stamp(in: $0) } ?? modified
    if stated.physical > limit(now) {
      let believed = modified.physical <= limit(now) ? modified : EditStamp(physical: now)
      return (believed, stated.physical.duration(since: now))
    }
    // Some remotes do not report when they took a copy.
    if taken.microseconds > 0, stated.physical > limit(taken) {
      return (modified, stated.physical.duration(since: taken))
    }
    return (stated, nil)
  }

  private func limit(_ instant: Timestamp) -> Timestamp {
    max(instant, known?.physical ?? instant) + bound
  }
}
