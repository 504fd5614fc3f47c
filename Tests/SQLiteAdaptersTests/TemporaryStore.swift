#if SQLite
  import Foundation
  import SyncModels
  import Testing

  @testable import SQLiteAdapters

  /// A directory for one test's stores, deleted with its last reference.
  final class TemporaryDirectory: Sendable {
    let path: String

    /// Creates a directory; in memory, if the system has such a place.
    ///
    /// The latter is for tests that create many.
    init(inMemory: Bool = false) throws {
      let memory = URL(fileURLWithPath: "/dev/shm")
      let isThere = inMemory && FileManager.default.fileExists(atPath: memory.path)
      let url = (isThere ? memory : FileManager.default.temporaryDirectory)
        .appendingPathComponent("store-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      path = url.path
    }

    deinit {
      // No test depends on the deletion of the directory.
      try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { path + "/" + name }

    func contents(_ name: String) throws -> Data {
      try Data(contentsOf: URL(fileURLWithPath: file(name)))
    }

    func write(_ data: Data, to name: String) throws {
      try data.write(to: URL(fileURLWithPath: file(name)))
    }

    func permissions(_ name: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: file(name))[.posixPermissions] as? Int
    }

    var names: [String] {
      get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }
  }

  /// Runs a test on a new store, and closes it.
  func withStore<R>(
    _ configuration: SQLiteStore.Configuration = .init(),
    _ body: (SQLiteStore, TemporaryDirectory) async throws -> R
  ) async throws -> R {
    let directory = try TemporaryDirectory()
    let store = try await SQLiteStore.open(path: directory.file("store.db"), configuration: configuration)
    let result = try await body(store, directory)
    #expect(try await store.busyStatements() == 0)
    await store.close()
    return result
  }

  extension SQLiteStore {
    /// Reverts later steps of the layout, to the file of an older library version.
    func undoSteps(after step: Int) async throws {
      if step < 11 {
        // The sums of changes and declarations were zeros.
        try await execute(
          "UPDATE meta SET value = CAST(substr(value, 1, 40) || zeroblob(24) AS BLOB) WHERE key = 'sums'")
      }
      if step < 10 {
        let tables = try await writer.run { connection throws(SyncError) in
          try connection.typesWithTables().map { quoted(EntityTable.name(of: $0)) }
        }
        for table in tables + ["outbox"] { try await execute("ALTER TABLE \(table) DROP COLUMN checksum") }
      }
      if step < 9 { try await execute("DELETE FROM meta WHERE key = 'sums'") }
      if step < 8 { try await execute("DROP TABLE changes") }
      if step < 7 {
        try await execute(
          """
          CREATE TABLE checkpoints (type TEXT NOT NULL PRIMARY KEY, checkpoint TEXT NOT NULL) WITHOUT ROWID
          """)
        try await execute(
          """
          INSERT INTO checkpoints SELECT substr(key, 12), CAST(value AS TEXT) FROM state WHERE key GLOB 'checkpoint/*'
          """)
        try await execute("DELETE FROM state WHERE key GLOB 'checkpoint/*'")
      }
      if step < 6 {
        try await execute("DROP TABLE outbox_leaves")
        for column in ["rebuilt_pass", "rebuilt_physical", "rebuilt_counter", "rebuilt_replica", "leaves"] {
          try await execute("ALTER TABLE outbox DROP COLUMN \(column)")
        }
      }
      if step < 5 {
        try await execute("DROP TABLE set_aside_references")
        try await execute("DROP TRIGGER set_aside_removed")
        try await execute(
          """
          CREATE TRIGGER set_aside_removed AFTER DELETE ON set_aside BEGIN
            UPDATE set_aside_counts SET entries = entries - 1 WHERE type = old.type AND kind = old.kind;
            DELETE FROM waiting WHERE entry = old.entry;
          END
          """)
      }
      if step < 3 { try await execute("DROP TABLE outbox_counts") }
      if step < 2 { for table in ["outbox", "conflicts"] { try await execute("DROP TABLE \(table)") } }
      try await execute("PRAGMA user_version = \(step)")
    }
  }

  extension TemporaryDirectory {
    /// The tables of a store whose sum is not that of their rows.
    func tablesWithWrongSums(in name: String) async throws -> [SummedTable] {
      let store = try await SQLiteStore.open(path: file(name))
      let differing = try await store.writer.run { connection throws(SyncError) -> [SummedTable] in
        try connection.transaction(.read) { () throws(SyncError) -> [SummedTable] in
          let (stored, counted) = (try connection.storedSums(), try connection.countedSums())
          return SummedTable.allCases.filter { stored?[$0] != counted[$0] }
        }
      }
      await store.close()
      return differing
    }
  }

  /// A copy of a record, with its fields read as a source does.
  func copy(
    _ entity: Entity, _ key: String, _ json: String = "{}", version: Int64 = 1, tag: String? = nil
  ) throws -> Record {
    let payload = Payload(Array(json.utf8))
    return Record(
      id: RecordID(type: entity.type, key: key),
      version: Version(sequence: version, modifiedAt: Timestamp(milliseconds: version)), entityTag: tag,
      payload: payload, fields: try entity.fields(of: payload))
  }
#endif
