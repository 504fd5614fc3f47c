import SyncModels
import SyncPorts

// Short forms for local edits and their results.
extension StoreBench {
  static func stamp(_ milliseconds: Int64, _ counter: UInt32 = 0, by replica: String = "here") -> EditStamp {
    EditStamp(physical: Timestamp(milliseconds: milliseconds), counter: counter, replica: replica)
  }

  static func edit(_ json: String, at stamp: EditStamp, schema: Int = 1) -> Edit {
    Edit(.upsert(Payload(Array(json.utf8)), schemaVersion: schema), stamp: stamp)
  }

  static func pending(
    _ id: RecordID, at stamp: EditStamp, base: OutboxEntry.Base = .none
  ) -> OutboxEntry {
    OutboxEntry(id: id, edit: edit(#"{"v":2}"#, at: stamp), base: base)
  }

  static func pendingDeletion(_ id: RecordID, at stamp: EditStamp) -> OutboxEntry {
    OutboxEntry(id: id, edit: Edit(.deletion, stamp: stamp), base: .none)
  }

  static func conflict(_ id: RecordID, settledAt milliseconds: Int64, reason: String = "because") -> Conflict
  {
    Conflict(
      id: id, settledAt: Timestamp(milliseconds: milliseconds), local: Edit(.deletion, stamp: stamp(1)),
      remote: .tombstone(tombstone(id.type, id.key)), remoteStamp: stamp(2, by: ""), base: nil,
      winner: .remote,
      reason: reason)
  }

  func queue(_ entries: OutboxEntry...) async throws(SyncError) {
    try await write { transaction throws(SyncError) in try transaction.queue(entries) }
  }

  func log(_ conflicts: Conflict...) async throws(SyncError) {
    try await write { transaction throws(SyncError) in try transaction.log(conflicts) }
  }

  func outbox(
    _ type: RecordType = "games", after: EditStamp? = nil, limit: Int = 1000
  ) async throws(SyncError) -> [OutboxEntry] {
    try await read { snapshot throws(SyncError) in try snapshot.outbox(type, after: after, limit: limit) }
  }

  func outboxCount(_ type: RecordType = "games") async throws(SyncError) -> Int {
    try await read { snapshot throws(SyncError) in try snapshot.outboxCount(type) }
  }

  func conflicts(
    _ type: RecordType? = nil, before: Int64? = nil, limit: Int = 1000
  ) async throws(SyncError) -> [Conflict] {
    try await read { snapshot throws(SyncError) in
      try snapshot.conflicts(type, before: before, limit: limit)
    }
  }
}
