import CanonicalSync
import InMemoryAdapters
import SyncAdapters

/// One device: a store, a possibly wrong clock, and an engine for each start.
final class Replica: Sendable {
  let name: String
  let store: any LocalStore
  let crashing: CrashingStore
  let clock: ManualClock
  private let world: SyncSchema
  private let remote: InMemoryRemote
  private let policy: any MergePolicy

  init(
    _ name: String, store: any LocalStore, clock: ManualClock, schema: SyncSchema, remote: InMemoryRemote,
    policy: any MergePolicy
  ) {
    self.name = name
    self.store = store
    self.clock = clock
    self.remote = remote
    self.policy = policy
    world = schema
    crashing = CrashingStore(store)
  }

  /// The engine of a newly started process.
  func engine(pageSize: Int) async throws(SyncError) -> SyncEngine {
    try await SyncEngine(
      schema: world, store: crashing, source: remote, sink: remote, clock: clock,
      options: SyncOptions(
        pageSize: pageSize, pagesAhead: 0, maximumConcurrentTypes: 1, retry: RetryPolicy(attempts: 1)),
      edits: EditOptions(policy: policy), random: RepeatedNumber())
  }

  /// Edits a record as its app would, if the edit is valid.
  ///
  /// - Returns: The record's pending edit, if there is one.
  func edit(
    _ id: RecordID, _ change: @Sendable (inout EditBatch) throws(SyncError) -> Void
  ) async throws(SyncError) -> Edit? {
    let edits = LocalEdits(store: crashing, schema: world, clock: clock)
    try await edits.perform(change)
    return try await pending(id)?.edit
  }

  func pending(_ id: RecordID) async throws(SyncError) -> OutboxEntry? {
    try await store.read { (snapshot) throws(SyncError) in try snapshot.outbox(for: [id]) }.first
  }

  /// The payloads of a type's live records, by key.
  func records(_ type: RecordType) async throws(SyncError) -> [String: String] {
    let records = try await store.read { (snapshot) throws(SyncError) in try snapshot.records(Query(type)) }
    return Dictionary(uniqueKeysWithValues: records.map { ($0.id.key, $0.payload.text) })
  }

  /// The number of pending edits, for any reason.
  func pendingCount() async throws(SyncError) -> Int {
    let types = world.entities.map(\.type)
    return try await store.read { (snapshot) throws(SyncError) in
      var count = 0
      for type in types { count += try snapshot.outboxCount(type) }
      return count
    }
  }

  func conflicts() async throws(SyncError) -> [Conflict] {
    try await store.read { (snapshot) throws(SyncError) in
      try snapshot.conflicts(nil, before: nil, limit: .max)
    }
  }
}

extension Payload {
  var text: String { String(decoding: bytes, as: UTF8.self) }
}
