#if SQLite
  import CanonicalSync
  import FileAdapters
  import Foundation
  import SQLiteAdapters

  /// A store synced from a directory of records, for tests of the built tool.
  struct InspectedStore {
    let path: String
    private let records: URL

    /// Writes a type's records into the directory, one on each line.
    func write(_ type: String, _ lines: [String]) throws {
      try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: records.appending(path: "\(type).ndjson"))
    }

    /// Syncs the store with the directory.
    func sync() async throws {
      let schema = try SyncSchema(
        Entity("teams"),
        Entity(
          "games", schemaVersion: 2, schemaVersionField: "schema",
          references: [.to("teams", by: "home_team_id")]))
      let store = try await SQLiteStore.open(path: path)
      let engine = try await SyncEngine(
        schema: schema, store: store, source: DirectorySource(directory: records.path, identity: "test"))
      _ = try await engine.sync()
      await store.close()
    }

    /// Runs the tool on the store.
    func inspect(_ arguments: String...) async throws -> Tool.Outcome {
      try await Self.tool.start(arguments + ["--store", path]).outcome()
    }

    /// Runs a shell line with the variables `$TOOL` and `$STORE`.
    func shell(_ line: String) async throws -> Tool.Outcome {
      try await RunningTool(
        executable: URL(filePath: "/bin/sh"), ["-c", line], in: nil,
        environment: ["TOOL": Self.tool.executable.path, "STORE": path]
      ).outcome()
    }

    /// Creates an empty directory of records, and a store next to it.
    static func with(_ body: (InspectedStore) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "inspect-\(UUID().uuidString)")
      let records = folder.appending(path: "records")
      try FileManager.default.createDirectory(at: records, withIntermediateDirectories: true)
      defer {
        // The system removes any remaining files.
        try? FileManager.default.removeItem(at: folder)
      }
      try await body(InspectedStore(path: folder.appending(path: "store.db").path, records: records))
    }

    private static let tool = Tool(name: "sync-inspect")
  }
#endif
