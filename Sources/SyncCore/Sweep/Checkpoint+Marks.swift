import SyncModels

extension Checkpoint {
  /// The complete listing that marks records; `nil` without one.
  ///
  /// It is under way, or waits for its sweep.
  var markPass: Int64? {
    if let inFlight, inFlight.coverage == .everything { return inFlight.number }
    return sweep?.pass
  }

  /// Returns the last pass that is known to have held a live record.
  ///
  /// The mark on the record's row decides: a listing that is under way or waits for its sweep has
  /// held the records that it marked, and no others.
  func lastPass(ofRowMarked isMarked: Bool) -> Int64 {
    guard let markPass else { return lastPass }
    return isMarked ? markPass : markPass - 1
  }

  /// Notes that the sweep of the complete listing is done.
  mutating func noteSwept(by fence: Int64, at now: Timestamp, isAnythingInDoubt: Bool) {
    guard let pass = sweep?.pass else { return }
    needsSecondListing = isAnythingInDoubt
    sweep = nil
    sweptPass = pass
    sweptFence = fence
    deletionsVerifiedAt = now
  }
}
