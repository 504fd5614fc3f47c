import SyncModels

extension Checkpoint {
  /// The complete listing whose records are being marked, if one is under way or waits for its sweep.
  var markPass: Int64? {
    if let inFlight, inFlight.coverage == .everything { return inFlight.number }
    return sweep?.pass
  }
}
