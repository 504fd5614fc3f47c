import SyncModels
import SyncPorts

extension WriteThrottle {
  /// Notes that a sighting was recorded, in a transaction before the one that records it.
  func recordApart<T: SyncedRecord & Encodable>(
    _ value: T, key: String, _ now: Timestamp
  ) async throws(SyncError) -> Outcome {
    let (keys, interval) = (ThrottleKeys(RecordID(type: T.recordType, key: key)), interval)
    let decision = try await store.write(.app) { (transaction) throws(SyncError) in
      var machine = try transaction.value(of: keys.mark) ?? ThrottleMachine()
      let decision = machine.see(at: now, interval: interval)
      try transaction.set(machine, for: keys.mark)
      return decision
    }
    guard decision == .record else { return .cached(until: now) }
    try await edits.upsert(value, key: key)
    return .recorded
  }
}
