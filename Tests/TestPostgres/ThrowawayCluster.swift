#if Postgres
  import CanonicalSyncTestProcesses
  import Foundation

  /// A server of PostgreSQL for one test, which restarts it or adds a standby.
  package struct ThrowawayCluster {
    /// The address of its database.
    package let address: String
    private let folder: String

    /// Whether PostgreSQL is installed: `Tests/run` started one.
    package static var isPossible: Bool {
      ProcessInfo.processInfo.environment["CANONICALSYNC_POSTGRESQL"] != nil
    }

    /// A script of `Tests/servers` that failed.
    package struct Failure: Error {
      package var command: String
      package var output: String
    }

    /// Starts a server.
    package init() throws {
      folder = Self.newFolder()
      address = try Self.run(["start", folder])
    }

    /// Starts a standby of a server.
    package init(following primary: ThrowawayCluster) throws {
      folder = Self.newFolder()
      address = try Self.run(["standby", folder, primary.folder])
    }

    private static func newFolder() -> String {
      FileManager.default.temporaryDirectory.appending(path: "cluster-\(UUID().uuidString)").path
    }

    /// Restarts the server as after a crash.
    package func restart() throws { try Self.run(["restart", folder]) }

    /// Ends all connections but its own.
    package func cutConnections() throws {
      try sql(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = 'stores' AND pid <> pg_backend_pid()
        """)
    }

    /// Runs SQL, and returns what `psql` prints without headings.
    @discardableResult
    package func sql(_ text: String) throws -> String {
      try Self.run(["sql", folder], input: "\\pset tuples_only\n\\pset format unaligned\n\(text);\n")
    }

    package func stop() {
      // Nothing else can be done about a server that does not stop.
      _ = try? Self.run(["stop", folder])
      try? FileManager.default.removeItem(atPath: folder)
    }

    @discardableResult
    private static func run(_ arguments: [String], input: String = "") throws -> String {
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      // Files: a server keeps inherited pipes open, and their reader would wait for its end.
      let exchange = FileManager.default.temporaryDirectory.appending(path: "cluster-\(UUID().uuidString)")
      let (given, output) = (exchange.path + ".in", exchange.path + ".out")
      defer { for file in [given, output] { try? FileManager.default.removeItem(atPath: file) } }
      try Data(input.utf8).write(to: URL(filePath: given))
      try Data().write(to: URL(filePath: output))
      let writing = FileHandle(forWritingAtPath: output)
      let process = try ChildProcess(
        [root.appending(path: "Tests/servers/postgresql").path] + arguments,
        input: FileHandle(forReadingAtPath: given), output: writing, errors: writing)
      let ending = process.waitUntilExit()
      let text = String(decoding: try Data(contentsOf: URL(filePath: output)), as: UTF8.self)
      guard ending.status == 0, !ending.wasKilled else {
        throw Failure(command: arguments.joined(separator: " "), output: text)
      }
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }
#endif
