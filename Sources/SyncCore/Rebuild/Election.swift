import SyncModels

/// One of the records that share a natural key.
struct Candidate: Hashable {
  var record: Record
  /// When it was last written.
  var stamp: EditStamp
  /// The remote's word that it was deleted, which only waits for references to go.
  var deletion: Tombstone?

  var id: RecordID { record.id }
}

/// Elects the record that stays: the one written last.
///
/// A pure function of what was written when: the same on every replica, in whatever order things arrived.
struct Election: Hashable {
  let winner: Candidate
  /// The others, the one written last first.
  let losers: [Candidate]

  /// Elects among the records of a group; nobody, where fewer than two are there or the remote has deleted them all.
  init?(_ candidates: consuming [Candidate]) {
    var others = candidates
    guard others.count > 1, let place = Self.place(ofWinnerAmong: others) else { return nil }
    winner = others.remove(at: place)
    others.sort(by: Self.precedes)
    losers = others
  }

  private static func place(ofWinnerAmong candidates: [Candidate]) -> Int? {
    let standing = candidates.indices.lazy.filter { candidates[$0].deletion == nil }
    #if MUTANTS
      if Mutant.rebuildElectsALoser.isActive {
        return standing.max { precedes(candidates[$0], candidates[$1]) }
      }
    #endif
    return standing.min { precedes(candidates[$0], candidates[$1]) }
  }

  /// The later write first; of simultaneous ones the record whose id comes first.
  private static func precedes(_ a: Candidate, _ b: Candidate) -> Bool {
    a.stamp == b.stamp ? a.id < b.id : a.stamp > b.stamp
  }
}

extension Entity {
  /// When a live record was last written: by its pending edit, else as it says itself, else as the remote says.
  ///
  /// No copy was written later than the remote took it: one that says so, by more than the bound, was stamped by a clock that was wrong. The local
  /// clock is not asked, or replicas that ask at different times would elect different records, and delete each other's.
  func lastWrite(of record: Record, pending: OutboxEntry?, maximumClockSkew: Duration) -> EditStamp {
    #if MUTANTS
      if Mutant.rebuildIsAWrite.isActive, let pending { return pending.edit.stamp }
    #endif
    if let pending { return pending.lastWrite }
    let taken = record.version.modifiedAt
    guard let stamp = stamp(in: record.payload) else { return EditStamp(physical: taken) }
    // Not every remote tells when it took a copy.
    let isBelieved = taken.microseconds <= 0 || stamp.physical <= taken + maximumClockSkew
    return isBelieved ? stamp : EditStamp(physical: taken)
  }
}
