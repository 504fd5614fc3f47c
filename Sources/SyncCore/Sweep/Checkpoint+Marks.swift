import SyncModels

extension Checkpoint {
  /// The complete listing whose records are being marked, if one is under way or waits for its sweep.
  var markPass: Int64? {
    if let inFlight, inFlight.coverage == .everything { return inFlight.number }
    return sweep?.pass
  }

  /// The last pass that is known to have held a live record, told by the mark on its row.
  ///
  /// A listing under way, or one that waits for its sweep, has held what it marked and nothing else.
  func lastPass(ofRowMarked isMarked: Bool) -> Int64 {
    guard let markPass else { return lastPass }
    return isMarked ? markPass : markPass - 1
  }

  /// Notes that what the complete listing did not hold is gone.
  mutating func noteSwept(by fence: Int64, at now: Timestamp, isAnythingInDoubt: Bool) {
    guard let pass = sweep?.pass else { return }
    needsSecondListing = isAnythingInDoubt
    sweep = nil
    sweptPass = pass
    sweptFence = fence
    deletionsVerifiedAt = now
  }
}
