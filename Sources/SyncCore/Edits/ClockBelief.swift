import SyncModels

/// How far the stamps of others are believed.
///
/// Nobody writes later than now, nor later than the remote took it. A stamp that says so, by more than the bound, was made by a clock that was wrong, unless what is known
/// of the record already is as late: then both are on one clock, and can be compared.
struct ClockBelief {
  var now: Timestamp
  /// See ``EditOptions/maximumClockSkew``.
  var bound: Duration
  /// The stamp of the edit that others are compared with.
  var known: EditStamp?

  /// The stamp of the remote's word as far as it is believed, and how far ahead it was if it was not.
  func stamp(of remoteState: RemoteState, _ entity: Entity) -> (believed: EditStamp, disbelieved: Duration?) {
    let taken = remoteState.version.modifiedAt
    let modified = EditStamp(physical: taken)
    let stated = remoteState.payload.flatMap { entity.stamp(in: $0) } ?? modified
    if stated.physical > limit(now) {
      let believed = modified.physical <= limit(now) ? modified : EditStamp(physical: now)
      return (believed, stated.physical.duration(since: now))
    }
    // Not every remote tells when it took a copy.
    if taken.microseconds > 0, stated.physical > limit(taken) {
      return (modified, stated.physical.duration(since: taken))
    }
    return (stated, nil)
  }

  private func limit(_ instant: Timestamp) -> Timestamp {
    max(instant, known?.physical ?? instant) + bound
  }
}
