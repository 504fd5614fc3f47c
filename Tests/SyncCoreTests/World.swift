import CanonicalSync
import InMemoryAdapters

/// A remote, a store and an engine between them, for scenario tests.
struct World {
  let clock = ManualClock()
  let remote: InMemoryRemote
  let store: InMemoryStore
  let recorder = EventRecorder()
  let engine: SyncEngine

  static let teams = Entity("teams", schemaVersionField: "schema")
  static let games = Entity(
    "games", references: [.to("teams", by: "home"), .to("teams", by: "away")], indexes: ["date"])

  init(
    _ entities: [Entity] = [Self.teams, Self.games],
    configuration: InMemoryRemote.Configuration = .privateZone, options: SyncOptions = SyncOptions(),
    remote: InMemoryRemote? = nil, store: InMemoryStore? = nil,
    connectivity: (any ConnectivityMonitor)? = nil
  ) async throws {
    let clock = clock
    self.remote = remote ?? InMemoryRemote(configuration: configuration, clock: clock)
    self.store = store ?? InMemoryStore(leaseClock: { clock.timestamp })
    engine = try await SyncEngine(
      schema: SyncSchema(entities), store: self.store, source: self.remote, clock: clock, options: options,
      connectivity: connectivity, observers: [recorder], random: RepeatedNumber())
  }

  /// Adds teams to the remote, `t1` and so on.
  func addTeams(_ numbers: ClosedRange<Int>, name: String = "Team") {
    for number in numbers { remote.upsert("teams", "t\(number)", #"{"id":"t\#(number)","name":"\#(name)"}"#) }
  }

  func addGame(_ key: String, home: String, away: String, date: String = "2026-04-01") {
    remote.upsert(
      "games", key, #"{"id":"\#(key)","home":"\#(home)","away":"\#(away)","date":"\#(date)"}"#)
  }

  /// The keys of a type's live records, in order.
  func keys(_ type: RecordType) -> [String] {
    store.records(of: type).map(\.id.key).sorted()
  }

  /// Whether the store equals the remote.
  func isEqual(_ type: RecordType) -> Bool {
    let local = store.records(of: type).map {
      [$0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self)]
    }
    let remote = remote.records(of: type).map { [$0.key, String(decoding: $0.payload.bytes, as: UTF8.self)] }
    return Set(local) == Set(remote) && local.count == remote.count
  }
}
