#if SQLite
  import Foundation

  /// A built tool, run in a separate process.
  struct Tool {
    let name: String

    /// The outcome of a run.
    struct Outcome {
      var status: Int32
      var wasKilled: Bool
      var output: String
      var errors: String

      /// The lines of standard output.
      var lines: [String] { output.split(separator: "\n").map(String.init) }

      /// The JSON object on the last line of standard output.
      var json: [String: Any] {
        get throws {
          let last = output.split(separator: "\n").last.map { Data($0.utf8) } ?? Data()
          return try JSONSerialization.jsonObject(with: last) as? [String: Any] ?? [:]
        }
      }

      /// A count of the whole run.
      func count(_ name: String) throws -> Int { try json[name] as? Int ?? -1 }

      /// A count of one type.
      func count(_ name: String, of type: String) throws -> Int {
        let entities = try json["entities"] as? [String: [String: Any]]
        return entities?[type]?[name] as? Int ?? -1
      }
    }

    /// Runs the tool to its end.
    func run(_ arguments: String..., in directory: URL? = nil) async throws -> Outcome {
      try await start(arguments, in: directory).outcome()
    }

    /// Starts the tool.
    func start(
      _ arguments: [String], in directory: URL? = nil, environment: [String: String] = [:]
    ) throws -> RunningTool {
      try RunningTool(executable: executable, arguments, in: directory, environment: environment)
    }

    /// The path of the tool.
    var executable: URL { Self.folder.appending(path: name) }

    // The tests' own executable is among the build products, unless others are to be tried.
    private static let folder =
      ProcessInfo.processInfo.environment["CANONICALSYNC_TOOLS"].map { URL(filePath: $0) }
      ?? Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
      ?? Bundle.main.bundleURL
  }

  /// Runs a body with its own folder, which is removed afterwards.
  func withFolder<R>(_ body: (Folder) async throws -> R) async throws -> R {
    let url = FileManager.default.temporaryDirectory.appending(path: "canonicalsync-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await body(Folder(url: url))
  }

  /// A folder for stores and data.
  struct Folder {
    let url: URL

    /// The path of a file in it.
    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a file of lines.
    func write(_ name: String, _ lines: [String]) throws {
      let file = url.appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: file)
    }
  }
#endif
