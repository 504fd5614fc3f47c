import SyncModels

/// One of the records that share a natural key.
struct Candidate: Hashable {
  var record: Record
  /// When the record was last written.
  var stamp: EditStamp
  /// The remote's deletion of the record, which waits only for references to go.
  var deletion: Tombstone?

  var id: RecordID { record.id }
}

/// Elects the record that stays: the one written last.
///
/// A pure function of the write stamps: its result is the same on every replica, in whatever order
/// records arrived.
struct Election: Hashable {
  let winner: Candidate
  /// The other records, the one written last first.
  let losers: [Candidate]

  /// Elects the winner of a group.
  ///
  /// `nil` if the group has fewer than two records, or if the remote has deleted all of them.
  init?(_ candidates: consuming [Candidate]) {
    var others = candidates
    guard others.count > 1, let place = Self.place(ofWinnerAmong: others) else { return nil }
    winner = others.remove(at: place)
    others.sort(by: Self.precedes)
    losers = others
  }

  private static func place(ofWinnerAmong candidates: [Candidate]) -> Int? {
    let present = candidates.indices.lazy.filter { candidates[$0].deletion == nil }
    return present.min { precedes(candidates[$0], candidates[$1]) }
  }

  /// Orders later writes first, and simultaneous ones by record id.
  private static func precedes(_ a: Candidate, _ b: Candidate) -> Bool {
    a.stamp == b.stamp ? a.id < b.id : a.stamp > b.stamp
  }
}

extension Entity {
  /// Returns when a live record was last written.
  ///
  /// The stamp comes from the pending edit, otherwise from the record itself, otherwise from the
  /// remote. A copy cannot have been written after the remote took it. A stamp that is later than
  /// that by more than the bound comes from a wrong clock and is ignored. The local clock is not
  /// used: replicas that read it at different times would elect different records, and delete each
  /// other's.
  func lastWrite(of record: Record, pending: OutboxEntry?, maximumClockSkew: Duration) -> EditStamp {
    if let pending { return pending.lastWrite }
    let taken = record.version.modifiedAt
    guard let stamp = stamp(in: record.payload) else { return EditStamp(physical: taken) }
    let isTooLate = StampTrust.isTooLate(stamp, takenAt: taken, bound: maximumClockSkew)
    return isTooLate ? EditStamp(physical: taken) : stamp
  }
}
