import SyncModels
import SyncPorts

/// Records that local edits created and that parked copies were waiting for.
///
/// They are noted with the edit, and the next sync releases the copies. The edit itself cannot
/// release them: the source's capabilities decide how copies merge, and an edit has no source.
struct AwaitedRecords: Hashable, Codable {
  var ids: [RecordID] = []

  private static let key = ValueKey<AwaitedRecords>(.edits, "awaited")

  /// Saves those of some records, new to readers, that a parked copy waits for.
  static func remember(_ appeared: [RecordID], in transaction: any StoreTransaction) throws(SyncError) {
    var found: [RecordID] = []
    for id in appeared where try !transaction.parked(waitingFor: [id], limit: 1).isEmpty { found.append(id) }
    guard !found.isEmpty else { return }
    var noted = try transaction.value(of: key) ?? AwaitedRecords()
    for id in found where !noted.ids.contains(id) { noted.ids.append(id) }
    try transaction.set(noted, for: key)
  }

  fileprivate static func load(from snapshot: any StoreSnapshot) throws(SyncError) -> [RecordID] {
    try snapshot.value(of: key)?.ids ?? []
  }

  fileprivate static func forget(in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.remove(key)
  }
}

/// Releases the copies that wait for records which local edits created.
///
/// The note of these records is removed in the same transaction.
struct AwaitedRelease: SyncPhase {
  var survey: Survey? {
    { (snapshot, _) throws(SyncError) in try !AwaitedRecords.load(from: snapshot).isEmpty }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let isDue = try await session.read { (snapshot) throws(SyncError) in
      try !AwaitedRecords.load(from: snapshot).isEmpty
    }
    guard isDue, let entity = session.schema.entities.first else { return .finished }
    let (schema, context) = (
      session.schema, session.environment.releaseContext(fence: session.fence, markPass: nil)
    )
    let tally = try await session.write { (transaction) throws(SyncError) in
      let noted = try AwaitedRecords.load(from: transaction)
      // Copies keep waiting for records that are gone again. Those that a clean-up has hidden
      // meanwhile are shown with them.
      let absent = try transaction.absent(among: noted)
      let hidden = try HiddenRecords(schema: schema, transaction: transaction).hidden(among: absent)
      let gone = Set(absent).subtracting(hidden.keys)
      var merge = PageMerge(entity, context: context)
      merge.context.markPass = try transaction.checkpoint(for: entity.type)?.markPass
      try merge.releaseParked(waitingFor: noted.filter { !gone.contains($0) }, in: transaction)
      try ArrivedDuplicates.remember(merge.tally.changed, of: schema, in: transaction)
      try AwaitedRecords.forget(in: transaction)
      return merge.tally
    }
    session.report(tally, of: entity.type)
    return .finished
  }
}
