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
