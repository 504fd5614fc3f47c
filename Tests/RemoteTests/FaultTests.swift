import CanonicalSync
import CanonicalSyncTestServers
import InMemoryAdapters
import Synchronization
import Testing

/// A tenth of all requests meet a fault, at each kind of remote.
@Suite("Faults between a mirror and its remote", .serialized, .timeLimit(.minutes(60)))
struct FaultTests {
  private struct Item: SyncedRecord, Encodable {
    static let recordType: RecordType = "items"
    var value: Int
  }

  /// Syncs a remote that others change between the syncs.
  private static func expectEqual(
    _ remote: TriedRemote, records: Int = 400, observers: [any SyncObserver] = []
  ) async throws {
    try await remote.write((0..<records).map { (number: Int) in ("k\(number)", number) })
    let mirror = try await TriedRemote.Mirror(remote, pageSize: 20, observers: observers)
    let pushes = remote.sink(try remote.source(remote.transport)) != nil
    for round in 0..<4 {
      if pushes {
        try await mirror.engine.edits.upsert(Item(value: round * 100), key: "k\(round)")
        try await mirror.engine.edits.upsert(Item(value: round), key: "new\(round)")
      }
      remote.pass()
      let result = try await remote.sync(mirror.engine)
      #expect(result.failures.isEmpty, "\(result.failures)")
      remote.check()
      if pushes {
        // An edit that was put off by a failure of its own goes with the next sync.
        remote.pass()
        _ = try await remote.sync(mirror.engine)
        #expect(try await mirror.engine.edits.pending("items").isEmpty)
      }
      try await remote.expectEqual(mirror, "round \(round)")
      try await remote.write([("k\(50 + round)", -1), ("k\(100 + round)", nil)])
    }
  }

  @Test(arguments: KintoKind.trials)
  func endEqualAtKinto(_ trial: KintoKind.Trial) async throws {
    try await TriedRemote.withKinto(trial.kind, seed: trial.seed, faults: 0.1) {
      try await Self.expectEqual($0, records: 600)
    }
  }

  @Test(
    .enabled(if: RealREST.address != nil, "Tests/run --all starts the server."),
    arguments: RealREST.Style.allCases)
  func endEqualAtAJSONAPI(_ style: RealREST.Style) async throws {
    try await TriedRemote.withREST(style, seed: 7, faults: 0.1) { try await Self.expectEqual($0) }
  }

  /// Only an answer that never comes takes a deadline. All other requests end in seconds.
  @Test(arguments: KintoKind.present.filter { $0 != .kintoWithPostgreSQL })
  func thousandsOfRecordsEndEqualInTime(_ kind: KintoKind) async throws {
    for seed in 1...UInt64(Seeds.isSoak ? 60 : 5) {
      try await TriedRemote.withKinto(kind, seed: seed, faults: 0.1) { remote in
        try await remote.write((0..<3000).map { (number: Int) in ("k\(number)", number) })
        let mirror = try await TriedRemote.Mirror(remote, pageSize: 100)
        let start = ContinuousClock.now
        let result = try await mirror.engine.sync()
        #expect(start.duration(to: .now) < .seconds(60), "seed \(seed)")
        #expect(result.failures.isEmpty, "seed \(seed)")
        try await remote.expectEqual(mirror, "seed \(seed)")
      }
    }
  }

  #if CloudKit && os(Linux)
    @Test(arguments: 1...UInt64(Seeds.isSoak ? 50 : 8), CloudKitBench.Kind.allCases)
    func endEqualAtCloudKit(_ seed: UInt64, _ kind: CloudKitBench.Kind) async throws {
      let log = Lines()
      var secrets: [String] = []
      var remote = try TriedRemote.cloudKit(kind, sweepEvery: .seconds(3600), restsFor: .seconds(4000)) {
        $0.seed = seed
        $0.faults = 0.1
        secrets = [$0.apiToken]
      }
      remote.pass = remote.settle
      try await Self.expectEqual(remote, observers: [LogObserver { log.add($0) }])
      for secret in secrets { #expect(!log.text.contains(secret)) }
    }
  #endif
}

/// Lines of a log.
private final class Lines: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var text: String { lines.withLock { $0.joined(separator: "\n") } }
}
