#if SQLite
  import CanonicalSync
  import FileAdapters
  import Foundation
  import SQLiteAdapters

  // The code of README.md.

  struct Game: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "games"
    static let startsAt = Field<Game, Date>("startsAt")
    var id: String
    var startsAt: Date  // RFC 3339 in JSON, unless you select another form
    var tickets: URL?
    var price: Decimal?
  }

  func readmeExample(source: any RemoteRecordSource, monday: Date) async throws {
    let schema = try SyncSchema(
      Entity("teams"),
      Entity("games", references: [.to("teams", by: "home_team_id")], indexes: ["startsAt"]))

    let store = try await SQLiteStore.open(path: "app.sqlite")
    let engine = try await SyncEngine(schema: schema, store: store, source: source)
    let result = try await engine.sync()
    print(result)  // a table: inserted, updated, deleted, … of each type

    if var game = try await engine.records.find(Game.self, key: "g1") {
      game.startsAt += 3600
      try await engine.edits.upsert(game)  // visible at once, pushed by the next sync
    }

    for try await games in engine.records.observe(
      Game.self, where: Game.startsAt >= monday, order: [.ascending(Game.startsAt)])
    {
      print(games.map(\.startsAt), games.leftOut)  // now, and after each change
    }
  }

  func readmeProgram() async throws {
    let schema = try SyncSchema(Entity("games", indexes: ["startsAt"]))
    let source = try DirectorySource(directory: "league", identity: "league")
    let store = try await SQLiteStore.open(path: "app.sqlite")
    let engine = try await SyncEngine(schema: schema, store: store, source: source)
    print(try await engine.sync())  // a table: inserted, updated, deleted, … of each type

    if var game = try await engine.records.find(Game.self, key: "g1") {
      game.startsAt += 3600
      try await engine.edits.upsert(game)  // visible at once; a sync with a sink pushes it
    }

    for try await games in engine.records.observe(Game.self, order: [.ascending(Game.startsAt)]) {
      print(games.map(\.startsAt), games.leftOut)  // now, and after each change
    }
  }
#endif
