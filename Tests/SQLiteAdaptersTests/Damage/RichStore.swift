#if SQLite
  import CanonicalSync
  import InMemoryAdapters
  import SQLiteAdapters
  import SyncMaintenance

  /// A store with something of everything in it, and its remote.
  struct RichStore {
    let clock = ManualClock()
    let remote: InMemoryRemote
    let path: String

    static let entities = [
      Entity(
        "teams", schemaVersionField: "schema", references: [.to("teams", by: "above")],
        naturalKey: NaturalKey("name")),
      Entity("games", references: [.to("teams", by: "home")], indexes: ["date"]),
    ]

    init(path: String) async throws {
      remote = InMemoryRemote(clock: clock)
      self.path = path
      for number in 0..<40 {
        let above = number % 7 == 3 ? #","above":"t\#(number - 1)""# : ""
        remote.upsert("teams", "t\(number)", #"{"name":"T\#(number % 36)"\#(above)}"#)
      }
      for number in 0..<20 {
        remote.upsert(
          "games", "g\(number)",
          #"{"home":"t\#(number < 17 ? number : 900)","date":"2026-01-\#(10 + number)"}"#)
      }
      remote.upsert("teams", "future", #"{"schema":9}"#)
      remote.putMalformed("games", nil, Array("no JSON".utf8))
      let store = try await SQLiteStore.open(path: path)
      let engine = try await engine(on: store)
      _ = try await engine.sync()
      // A conflict, whose edit stays, and edits of every kind.
      try await edit(engine, "t5", #""ours""#)
      remote.upsert("teams", "t5", #"{"name":"theirs"}"#)
      remote.rule(.refused(reason: "not this one"), on: "teams", "t5")
      _ = try await engine.sync()
      try await edit(engine, "t6", #""ours""#)
      try await engine.edits.perform { (batch) throws(SyncError) in
        // The base refers to t2, and the edit does not.
        try batch.set(RecordID(type: "teams", key: "t3")) { $0["above"] = Array("null".utf8)[...] }
        try batch.set(RecordID(type: "teams", key: "new")) { $0["name"] = Array(#""new""#.utf8)[...] }
      }
      try await engine.edits.delete(RecordID(type: "games", key: "g1"))
      _ = try await engine.throttle().record(Sighting(name: "seen"), key: "t20")
      await store.close()
    }

    struct Sighting: SyncedRecord, Codable {
      static let recordType: RecordType = "teams"
      var name: String?
    }

    func engine(on store: some LocalStore) async throws -> SyncEngine {
      try await SyncEngine(
        schema: SyncSchema(Self.entities), store: store, source: remote, sink: remote, clock: clock,
        options: SyncOptions(pageSize: 10, retry: RetryPolicy(attempts: 1)), random: RepeatedNumber(7))
    }

    func edit(_ engine: SyncEngine, _ key: String, _ note: String) async throws {
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: "teams", key: key)) { $0["note"] = Array(note.utf8)[...] }
      }
    }
  }

  /// Salvages a store's file, and returns the new store, still open.
  func salvaged(_ path: String) async throws -> (store: SQLiteStore, report: SalvageReport) {
    let store = try await SQLiteStore.open(path: path + ".new")
    let source = SQLiteSalvage(path: path, scratch: path + ".copy")
    let report = try await StoreSalvage(from: source, to: store).run()
    await source.close()
    return (store, report)
  }
#endif
