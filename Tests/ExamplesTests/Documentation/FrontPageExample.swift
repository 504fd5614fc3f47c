#if SQLite && Curl && os(Linux)
  import CanonicalSync
  import CurlAdapters
  import HTTPAdapters
  import SQLiteAdapters

  // The code of Docs/README.md.

  private enum FrontPage {
    struct Game: SyncedRecord, Codable, Identifiable {
      static let recordType: RecordType = "games"
      var id: String
      var seats: Int
    }

    func sellTickets(_ description: [UInt8]) async throws {
      let api = try RESTAPI(json: description, named: "api.json")  // its lists, pages and fields
      let source = try RESTSource(api, transport: CurlTransport())
      let store = try await SQLiteStore.open(path: "app.sqlite")
      let engine = try await SyncEngine(
        schema: api.schema, store: store, source: source, sink: RESTSink(source))
      print(try await engine.sync())  // a table: inserted, updated, deleted, … of each type

      if var game = try await engine.records.find(Game.self, key: "g1") {
        game.seats -= 1
        try await engine.edits.upsert(game)  // visible at once, pushed by the next sync
      }
      for try await games in engine.records.observe(Game.self) { print(games.count) }
    }
  }
#endif
