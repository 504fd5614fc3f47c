import SyncModels
import SyncPorts

/// Records that local edits created and that parked copies were waiting for.
///
/// They are noted with the edit, and the next sync releases the copies. The edit itself cannot
/// release them: the source's capabilities decide how copies merge, and an edit has no source.
struct AwaitedRecords: Hashable, Codable {
  var ids: [RecordID] = []

  private static let key = "edits/awaited"

  /// Notes those of some records, new to readers, that a parked copy waits for.
  static func note(_ appeared: [RecordID], in transaction: any StoreTransaction) throws(SyncError) {
    var found: [RecordID] = []
    for id in appeared where try !transaction.parked(waitingFor: [id], limit: 1).isEmpty { found.append(id) }
    guard !found.isEmpty else { return }
    var noted = try transaction.decoded(AwaitedRecords.self, forKey: key) ?? AwaitedRecords()
    for id in found where !noted.ids.contains(id) { noted.ids.append(id) }
    try transaction.encode(noted, forKey: key)
  }

  /// Releases the waiting copies, and removes the note in the same transaction.
  static func release(
    in environment: RunEnvironment, lease: Lease, _ progress: inout SyncProgress
  ) async throws(SyncError) {
    let isDue = try await environment.store.read { (snapshot) throws(SyncError) in
      try snapshot.value(forKey: key) != nil
    }
    guard isDue, let entity = environment.schema.entities.first else { return }
    let now = environment.clock.timestamp
    let tally = try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      let noted = try transaction.decoded(AwaitedRecords.self, forKey: key)?.ids ?? []
      // Copies keep waiting for records that are gone again.
      let absent = Set(try transaction.absent(among: noted))
      let context = environment.releaseContext(
        fence: lease.fence, markPass: try transaction.checkpoint(for: entity.type)?.markPass, at: now)
      var merge = PageMerge(entity, context: context)
      try merge.releaseParked(waitingFor: noted.filter { !absent.contains($0) }, in: transaction)
      try ArrivedDuplicates.note(merge.tally.changed, of: environment.schema, in: transaction)
      try transaction.setValue(nil, forKey: key)
      return merge.tally
    }
    progress.note(tally)
    environment.emitChanges(tally, of: entity.type)
  }
}
