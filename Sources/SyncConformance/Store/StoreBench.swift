import SyncModels
import SyncPorts

/// A store with registered types, and short forms for the checks.
struct StoreBench: Sendable {
  let harness: LocalStoreHarness
  let store: any LocalStore

  init(harness: LocalStoreHarness, store: any LocalStore) {
    self.harness = harness
    self.store = store
  }

  init(_ harness: LocalStoreHarness) async throws {
    self.harness = harness
    store = try await harness.open()
    try await store.register(try Self.schema())
  }

  /// Another handle of the store, with the same types.
  func another() async throws -> StoreBench { try await StoreBench(harness) }

  static let teams = Entity(
    "teams", references: [.to("teams", by: "parent")], indexes: ["city"])
  static let venues = Entity("venues")
  static let games = Entity(
    "games", schemaVersion: 3, schemaVersionField: "schema",
    references: [
      .to("teams", by: "home"), .to("teams", by: "away"), .to("venues", by: "venue", ordered: false),
    ],
    naturalKey: NaturalKey("code"), indexes: ["v"])

  static func schema() throws -> SyncSchema {
    try SyncSchema(games, venues, teams)
  }

  static func entity(_ type: RecordType) -> Entity {
    [teams, venues, games].first { $0.type == type } ?? Entity(type)
  }

  /// A copy of a record, with its fields read as a source does.
  static func copy(
    _ type: RecordType, _ key: String, _ json: String = "{}", version: Int64 = 1, tag: String? = nil,
    schema: Int = 1
  ) throws -> Record {
    let payload = Payload(Array(json.utf8))
    return Record(
      id: RecordID(type: type, key: key),
      version: Version(sequence: version, modifiedAt: Timestamp(milliseconds: version)),
      entityTag: tag, schemaVersion: schema, payload: payload, fields: try entity(type).fields(of: payload))
  }

  static func tombstone(_ type: RecordType, _ key: String, version: Int64 = 9, tag: String? = nil)
    -> Tombstone
  {
    Tombstone(
      id: RecordID(type: type, key: key),
      version: Version(sequence: version, modifiedAt: Timestamp(milliseconds: version)), entityTag: tag)
  }

  static func entry(
    _ key: WithheldChange.Key, _ kind: WithheldChange.Kind = .parked, _ change: RecordChange? = nil,
    waitsFor: [RecordID] = [], reason: String = "because"
  ) -> WithheldChange {
    let id: RecordID? = if case .record(let id) = key { id } else { nil }
    let malformed = MalformedRecord(
      type: key.type, key: id?.key, bytes: Payload(Array("{".utf8)), reason: "unfinished")
    return WithheldChange(
      key: key, kind: kind, change: change ?? .malformed(malformed), reason: reason, waitsFor: waitsFor,
      pass: 4,
      finder: .sync(fence: 2), since: Timestamp(milliseconds: 77))
  }

  static func game(_ key: String) -> RecordID { RecordID(type: "games", key: key) }
  static func team(_ key: String) -> RecordID { RecordID(type: "teams", key: key) }

  func put(_ copies: [Record]) async throws(SyncError) {
    try await write { transaction throws(SyncError) in try transaction.put(copies) }
  }

  func put(_ copies: Record...) async throws(SyncError) { try await put(copies) }

  func delete(_ tombstones: Tombstone...) async throws(SyncError) {
    try await write { transaction throws(SyncError) in try transaction.delete(tombstones) }
  }

  func withhold(_ entries: WithheldChange...) async throws(SyncError) {
    try await write { transaction throws(SyncError) in try transaction.withhold(entries) }
  }

  func write<R: Sendable>(
    _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await store.write(.app, body)
  }

  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await store.read(body)
  }

  func records(_ query: Query) async throws(SyncError) -> [Record] {
    try await read { snapshot throws(SyncError) in try snapshot.records(query) }
  }

  /// The keys of the live records that a query selects.
  func keys(_ query: Query) async throws(SyncError) -> [Bytes] {
    try await records(query).map { Bytes($0.id.key) }
  }

  func record(_ id: RecordID) async throws(SyncError) -> Record? {
    try await read { snapshot throws(SyncError) in try snapshot.records(withIDs: [id]) }.first ?? nil
  }

  func state(_ id: RecordID) async throws(SyncError) -> StoredState? {
    try await read { snapshot throws(SyncError) in try snapshot.state(of: id) }
  }

  func entries(
    _ type: RecordType = "games", kinds: Set<WithheldChange.Kind> = Set(WithheldChange.Kind.allCases),
    after: WithheldChange.Key? = nil, limit: Int = 1000
  ) async throws(SyncError) -> [WithheldChange] {
    try await read { snapshot throws(SyncError) in
      try snapshot.withheld(type, kinds: kinds, after: after, limit: limit)
    }
  }
}

/// A string that is compared by its bytes, for lists of keys.
struct Bytes: Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
  let description: String
  private let utf8: [UInt8]

  init(_ string: String) {
    description = string
    utf8 = Array(string.utf8)
  }

  init(stringLiteral value: String) {
    self.init(value)
  }
}
