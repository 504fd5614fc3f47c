#if Postgres
  import CanonicalSyncTestProcesses
  import Foundation

  /// PgBouncer in front of a database of the tests.
  package struct Pooler {
    private let process: ChildProcess
    private let folder: URL
    package let address: String

    /// Whether PgBouncer and the database are there.
    package static var isThere: Bool {
      let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/sbin"]
      return Database.isThere
        && folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/pgbouncer") }
    }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - mode: PgBouncer's `pool_mode`.
    ///   - sessions: The number of sessions that it lends.
    ///   - database: The address of the database.
    package init(
      _ mode: String, sessions: Int = 20, before database: String = Database.address
    ) async throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "pooler-\(UUID().uuidString)")
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      process = try ChildProcess(
        [
          root.appending(path: "Tests/servers/pgbouncer").path, folder.path, "\(Database.port(in: database))",
          mode, "\(sessions)",
        ],
        output: FileHandle.nullDevice, errors: FileHandle.nullDevice)
      let file = folder.appending(path: "port").path
      while !FileManager.default.fileExists(atPath: file) { try await Task.sleep(for: .milliseconds(20)) }
      let port = try String(contentsOfFile: file, encoding: .utf8)
        .trimmingCharacters(in: .whitespacesAndNewlines)
      address = "postgres://postgres@127.0.0.1:\(port)/stores"
      while try ChildProcess.run(["psql", "-qAtX", address, "-c", "SELECT 1"], withErrors: true).0 != 0 {
        try await Task.sleep(for: .milliseconds(50))
      }
    }

    package func stop() {
      process.send(SIGKILL)
      // What is left is a folder of small files.
      try? FileManager.default.removeItem(at: folder)
    }
  }
#endif
