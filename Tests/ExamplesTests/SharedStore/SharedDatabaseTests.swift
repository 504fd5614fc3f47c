#if SQLite && Postgres
  import Foundation
  import InMemoryAdapters
  import TestServers
  import Testing

  /// Processes that edit and sync one database, with kills, stops, lost connections and restarts.
  ///
  /// Stops last longer than the lease. The remote's server outlives them all.
  @Suite(
    "Processes that share a database", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: ThrowawayCluster.isPossible))
  struct SharedDatabaseTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// The number of rounds: `CANONICALSYNC_KILLS`, or 50.
    static let rounds = environment["CANONICALSYNC_KILLS"].flatMap { Int($0) } ?? 50
    /// The seed of random decisions. Instants also depend on the machine.
    static let seed = environment["CANONICALSYNC_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...999_999)

    @Test func loseNothingAndDoubleNothingWhateverHappensToThem() async throws {
      let replay: Comment =
        "CANONICALSYNC_SEED=\(Self.seed) swift test --filter SharedDatabaseTests tries the same again"
      let cluster = try ThrowawayCluster()
      defer { cluster.stop() }
      try await BookkeepingKinto.with(batchLimit: 7) { server in
        var random = SplitMix64(seed: Self.seed)
        let others = Others(server, random: SplitMix64(seed: Self.seed))
        others.writeTheFirstRecords()
        let store = "\(cluster.address)?schema=shared"
        var crew = try Crew(
          of: 5, store: store, server: server, others: others, random: SplitMix64(seed: ~Self.seed))
        defer { crew.killAll() }
        var round = 0
        var (cuts, restarts) = (0, 0)
        // A run without these events would prove nothing.
        while round < Self.rounds || crew.takeovers == 0 || !crew.hasLostALease {
          round += 1
          if random.once(in: 5) {
            try cluster.cutConnections()
            cuts += 1
          }
          if round % 25 == 0 {
            try cluster.restart()
            restarts += 1
          }
          try await crew.strike()
        }
        others.rest()
        let account = try await crew.end()

        try await expectTheTruth(in: store, at: server, account: account, others: others, replay)
        #expect(account.unexpectedFailures == [:], replay)
        #expect(crew.kills > 0 && crew.stops > 0 && cuts > 0, replay)
        #expect(Self.rounds < 25 || restarts > 0, replay)
        #expect(account.made.count > Self.rounds, replay)
      }
    }
  }

  /// A cluster of PostgreSQL of its own, for a test that restarts it.
  struct ThrowawayCluster {
    let address: String
    private let folder: String
    private static let script = "Tests/servers/postgresql"

    static var isPossible: Bool { ProcessInfo.processInfo.environment["CANONICALSYNC_POSTGRESQL"] != nil }

    init() throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "cluster-\(UUID().uuidString)").path
      address = try Self.run(["start", folder])
    }

    /// Restarts the server as after a crash.
    func restart() throws { try Self.run(["restart", folder]) }

    /// Ends all connections but this one's.
    func cutConnections() throws {
      try Self.run(
        ["sql", folder],
        input: """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = 'stores' AND pid <> pg_backend_pid();
          """)
    }

    func stop() {
      // Nothing else can be done about a cluster that does not stop.
      _ = try? Self.run(["stop", folder])
      try? FileManager.default.removeItem(atPath: folder)
    }

    @discardableResult
    private static func run(_ arguments: [String], input: String = "") throws -> String {
      let process = Process()
      let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
      process.executableURL = root.appending(path: script)
      process.arguments = arguments
      // Files, because the server inherits pipes, and would keep them open.
      let exchange = FileManager.default.temporaryDirectory.appending(path: "cluster-\(UUID().uuidString)")
      let (given, output) = (exchange.path + ".in", exchange.path + ".out")
      try Data(input.utf8).write(to: URL(filePath: given))
      try Data().write(to: URL(filePath: output))
      defer { for file in [given, output] { try? FileManager.default.removeItem(atPath: file) } }
      process.standardInput = FileHandle(forReadingAtPath: given)
      process.standardOutput = FileHandle(forWritingAtPath: output)
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(arguments) failed")
      let text = String(decoding: try Data(contentsOf: URL(filePath: output)), as: UTF8.self)
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }
#endif
