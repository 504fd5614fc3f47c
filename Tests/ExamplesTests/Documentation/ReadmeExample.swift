#if SQLite
  import CanonicalSync
  import SQLiteAdapters

  // The code of README.md.

  struct Game: SyncedRecord {
    static let recordType: RecordType = "games"
    var id: String
    var date: String
  }

  func readmeExample(source: any RemoteRecordSource) async throws {
    let schema = try SyncSchema(
      Entity("teams"),
      Entity("games", references: [.to("teams", by: "home_team_id")], indexes: ["date"]))

    let store = try await SQLiteStore.open(path: "app.sqlite")
    let engine = try await SyncEngine(schema: schema, store: store, source: source)
    let result = try await engine.sync()
    print(result)  // a table: inserted, updated, deleted, … of each type

    let week = try await engine.records.filter(
      Game.self, where: .range("date", from: "2026-04-06", to: "2026-04-12"), order: ["date"])
    print(week)
  }
#endif
