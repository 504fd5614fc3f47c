import CanonicalSync
import Foundation
import InMemoryAdapters
import SyncAdapters
import Testing

#if SQLite
  import SQLiteAdapters
#endif

/// The kinds of stores for each requirement.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory
  #if SQLite
    case sqlite
  #endif

  var testDescription: String { rawValue }
}

/// A remote, a store and a clock for a test.
struct Setting: Sendable {
  let clock: ManualClock
  let remote: InMemoryRemote
  let store: any LocalStore
  let recorder = EventRecorder()

  static let teams = Entity("teams", indexes: ["name"])
  static let games = Entity("games", references: [.to("teams", by: "home")], indexes: ["date"])
  static let meters = Entity("meters", naturalKey: NaturalKey("mac", normalizedBy: .alphanumeric))
  static let readings = Entity("readings", references: [.to("meters", by: "meter")])

  /// Creates an engine on the store. A second one represents the app's next start.
  func engine(
    _ entities: [Entity] = [Self.teams, Self.games], options: SyncOptions = SyncOptions(),
    edits: EditOptions = EditOptions(), source: (any RemoteRecordSource)? = nil,
    connectivity: (any ConnectivityMonitor)? = nil
  ) async throws -> SyncEngine {
    try await SyncEngine(
      schema: SyncSchema(entities), store: store, source: source ?? remote,
      sink: source == nil && remote.capabilities.versions != .perScan ? remote : nil, clock: clock,
      options: options, edits: edits, connectivity: connectivity, observers: [recorder],
      random: RepeatedNumber())
  }

  func addTeams(_ numbers: ClosedRange<Int>) {
    for number in numbers {
      remote.upsert("teams", "t\(number)", #"{"id":"t\#(number)","name":"Team \#(number)"}"#)
    }
  }

  func keys(_ type: RecordType) async throws -> [String] {
    try await store.read { (snapshot) throws(SyncError) in try snapshot.records(Query(type)).map(\.id.key) }
  }

  /// A member's JSON in the live record; `nil` for a record that is not live.
  func member(_ field: FieldName, of key: String, _ type: RecordType) async throws -> String? {
    let record = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.records(withIDs: [RecordID(type: type, key: key)]).first ?? nil
    }
    return try record.flatMap { try FieldMap($0.payload)[field] }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// A member's JSON at the remote; `nil` for a record that is not there.
  func remoteMember(_ field: FieldName, of key: String, _ type: RecordType) throws -> String? {
    try remote.records(of: type).first { $0.key == key }
      .flatMap { try FieldMap($0.payload)[field] }.map { String(decoding: $0, as: UTF8.self) }
  }

  func withheld(_ type: RecordType) async throws -> [WithheldChange] {
    try await store.read { (snapshot) throws(SyncError) in
      try snapshot.withheld(type, kinds: Set(WithheldChange.Kind.allCases), after: nil, limit: 1000)
    }
  }

  func checkpoint(_ type: RecordType) async throws -> Checkpoint? {
    try await store.read { (snapshot) throws(SyncError) in try snapshot.checkpoint(for: type) }
  }
}

/// Runs a test on a new store of a kind, and cleans up.
func withSetting(
  _ kind: StoreKind, _ configuration: InMemoryRemote.Configuration = .privateZone,
  _ story: (Setting) async throws -> Void
) async throws {
  let clock = ManualClock()
  let remote = InMemoryRemote(configuration: configuration, clock: clock)
  try await withStore(kind, clock) { store in
    try await story(Setting(clock: clock, remote: remote, store: store))
  }
}

/// Provides a new store of a kind to a test, and cleans up.
func withStore(
  _ kind: StoreKind, _ clock: ManualClock, _ story: (any LocalStore) async throws -> Void
) async throws {
  switch kind {
  case .memory:
    try await story(InMemoryStore(leaseClock: { clock.timestamp }))
  #if SQLite
    case .sqlite:
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "requirements-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let configuration = SQLiteStore.Configuration(leaseClock: { clock.timestamp })
      let store = try await SQLiteStore.open(
        path: folder.appendingPathComponent("store.sqlite").path, configuration: configuration)
      do {
        try await story(store)
      } catch {
        await store.close()
        throw error
      }
      await store.close()
  #endif
  }
}

struct Team: SyncedRecord, Codable, Equatable {
  static let recordType: RecordType = "teams"
  var name: String
  var colour: String?
}

struct Game: SyncedRecord, Codable, Equatable {
  static let recordType: RecordType = "games"
  var home: String
  var date: String
}

struct Meter: SyncedRecord, Codable, Equatable {
  static let recordType: RecordType = "meters"
  var mac: String
  var name: String
}
