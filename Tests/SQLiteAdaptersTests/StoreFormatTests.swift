#if SQLite
  import Foundation
  import SyncModels
  import Testing

  @testable import SQLiteAdapters

  @Suite("The description of the store's file")
  struct StoreFormatTests {
    private func description() throws -> String {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      return try String(contentsOf: root.appendingPathComponent("Docs/StoreFormat.md"), encoding: .utf8)
    }

    @Test func namesEveryTableAndWhatRecordsAreMadeOf() async throws {
      let text = try description()
      try await withStore { store, directory in
        try await store.register(try SyncSchema(Entity("games", indexes: ["date"])))
        let reader = try Connection(
          uri: "file:" + directory.file("store.db"), flags: 1, busyTimeout: .seconds(1))
        var names: [String] = []
        try reader.forEachRow("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')") { row in
          names.append(row.text(0).replacingOccurrences(of: "games", with: "<type>"))
        }
        for table in ["rows_games", "fields", "set_aside", "outbox", "conflicts"] {
          try reader.forEachRow("SELECT name FROM pragma_table_info('\(table)')") { row in
            names.append(row.text(0))
          }
        }
        names.removeAll { $0 == "entry" || $0.hasPrefix("sqlite_") }
        for name in names { #expect(text.contains("`\(name)`"), "\(name)") }
        #expect(names.count > 30)
      }
    }
  }
#endif
