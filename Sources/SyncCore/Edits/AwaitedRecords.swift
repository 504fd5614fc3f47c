import SyncModels
import SyncPorts

/// Records that local edits made, and that copies from the remote had been waiting for: they are noted with the edit, and the next sync shows those copies.
///
/// Not within the edit: how copies are merged is the source's to say, and an edit knows none.
struct AwaitedRecords: Hashable, Codable {
  var ids: [RecordID] = []

  private static let key = "edits/awaited"

  /// Notes those of some records, new to readers, that something waits for.
  static func note(_ appeared: [RecordID], in transaction: any StoreTransaction) throws(SyncError) {
    var found: [RecordID] = []
    for id in appeared where try !transaction.parked(waitingFor: [id], limit: 1).isEmpty { found.append(id) }
    guard !found.isEmpty else { return }
    var noted = try transaction.decoded(AwaitedRecords.self, forKey: key) ?? AwaitedRecords()
    for id in found where !noted.ids.contains(id) { noted.ids.append(id) }
    try transaction.encode(noted, forKey: key)
  }

  /// Shows what waited, in one transaction with the note that it did.
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
      // What has gone again is waited for again.
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
