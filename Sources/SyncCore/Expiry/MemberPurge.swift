import SyncModels
import SyncPorts

/// Removes ended values of one member from records, by edits in short transactions.
///
/// A value has to have ended ``EditOptions/maximumClockSkew`` ago, so that a clock that is slightly
/// ahead does not remove values that devices with correct clocks still show. Records with a pending
/// edit are left to a later clean-up: the purge must not make that edit look newer. A value that
/// another device has purged is already absent here, so it is not purged twice. ``EditSettler``
/// lets every real edit win over a purge.
struct MemberPurge {
  let environment: RunEnvironment
  let edits: LocalEdits
  let member: CleanupPolicy.Purge
  let stop: StopSignal

  func run(portion: Int, _ report: inout CleanupReport) async throws(SyncError) {
    let (member, end) = (member, environment.clock.timestamp - environment.edits.maximumClockSkew)
    let way = try await stop.walk { (last: String?) throws(SyncError) in
      let query = Query(member.type, afterKey: last, limit: portion)
      let (ended, next) = try await environment.store.read { (snapshot) throws(SyncError) in
        let records = try snapshot.portion(of: query)
        let ended = records.filter { Self.hasEnded(member.name, of: $0, by: end) }.map(\.id)
        return (ended, records.count == portion ? records.last?.id.key : nil)
      }
      if !ended.isEmpty { report.expired += try await purge(ended, by: end) }
      return next
    }
    if way == .stopped { report.wasCancelled = true }
  }

  /// Removes the member from those of some records that still have it.
  ///
  /// - Returns: The number of changed records.
  private func purge(_ ids: [RecordID], by end: Timestamp) async throws(SyncError) -> Int {
    let name = member.name
    return try await edits.perform { (batch) throws(SyncError) in
      let pending = Set(try batch.transaction.outbox(for: ids).map(\.id))
      var count = 0
      for id in ids where !pending.contains(id) {
        guard let record = try batch.record(id), Self.hasEnded(name, of: record, by: end) else { continue }
        try batch.set(id) { $0[name] = nil }
        count += 1
      }
      return count
    }
  }

  private static func hasEnded(_ name: FieldName, of record: Record, by end: Timestamp) -> Bool {
    guard let expiry = (try? FieldMap(record.payload))?.end(of: name) else { return false }
    return expiry <= end
  }
}
