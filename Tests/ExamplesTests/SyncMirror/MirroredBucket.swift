#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import SyncJSON
  import SyncModels

  /// A bucket of a real Kinto server, and the store of its mirror.
  struct MirroredBucket {
    let kinto: RealKinto
    let folder: Folder

    static let tool = Tool(name: "sync-mirror")

    var store: String { folder.path("mirror.sqlite") }

    /// Creates a folder for a store, and a bucket with some collections.
    static func with(
      _ collections: [String], _ body: (MirroredBucket) async throws -> Void
    ) async throws {
      let kinto = try await RealKinto(collections)
      try await withFolder { try await body(MirroredBucket(kinto: kinto, folder: $0)) }
    }

    /// The arguments of the tool.
    func arguments(_ more: [String] = []) -> [String] {
      [
        "--server", kinto.server, "--bucket", kinto.bucket, "--store", store, "--auth", "tests:secret",
        "--json",
      ] + more
    }

    /// Runs the tool to its end.
    func mirror(_ more: String...) async throws -> Tool.Outcome {
      try await Self.tool.start(arguments(more)).outcome()
    }

    /// The records of a type as `sync-inspect` exports them.
    func exported(_ type: String) async throws -> [String] {
      try await Tool(name: "sync-inspect").run("export", "--store", store, "--type", type).lines
    }

    /// The records of a type that the server lists, in the format of an export.
    func listed(_ type: String) async throws -> [String] {
      try await kinto.listing(type).sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        .map { String(decoding: JSONScanner.compacted(Array($0.value.utf8)[...]), as: UTF8.self) }
    }

    /// Writes many small records.
    func load(_ type: String, _ count: Int) async throws {
      try await kinto.load(type, (0..<count).map { ("k\($0)", #"{"number":\#($0)}"#) })
    }
  }

  extension String {
    /// The number of inserted records in the lines of a watch.
    var inserted: Int {
      matches(of: #/([0-9]+) inserted/#).compactMap { Int($0.1) }.reduce(0, +)
    }
  }

  extension RunningTool {
    /// Waits for a text on standard error; the suite's time limit is the failure.
    func waitFor(_ text: String) async {
      await waitForErrors { $0.contains(text) }
    }
  }
#endif
