import CanonicalSync
import CanonicalSyncTestServers
import InMemoryAdapters
import SyncAdapters
import Testing

/// The app changes its filter between syncs, while others write, at each kind of remote.
@Suite("A filter of the app", .serialized, .timeLimit(.minutes(20)))
struct FilterTests {
  private static func expectEqual(_ remote: TriedRemote, seed: UInt64, records: Int = 60) async throws {
    var random = SplitMix64(seed: seed)
    let mirror = try await TriedRemote.Mirror(remote, pageSize: 7)
    try await remote.write((0..<records).map { ("k\($0)", $0) })
    var greatest: Int?
    for _ in 0..<6 {
      if Bool.random(using: &random) {
        greatest =
          Int.random(in: 0..<4, using: &random) == 0 ? nil : Int.random(in: 0..<records, using: &random)
        try mirror.engine.setFilter(greatest.map { .atMost("value", .integer(Int64($0))) }, for: "items")
      }
      try await remote.write(
        (0..<5).map { _ in
          let value = Int.random(in: 0..<records, using: &random)
          return (
            "k\(Int.random(in: 0..<records, using: &random))",
            Int.random(in: 0..<5, using: &random) == 0 ? nil : value
          )
        })
      _ = try await remote.sync(mirror.engine)
      remote.pass()
    }
    remote.settle()
    for _ in 0..<remote.lastSyncs + 1 {
      #expect(try await remote.sync(mirror.engine).failures.isEmpty, "seed \(seed)")
    }
    let expected = try await remote.records().filter { _, text in
      let value = text.firstMatch(of: #/"value":\s*(\d+)/#).flatMap { Int($0.1) } ?? 0
      return value <= greatest ?? .max
    }
    #expect(mirror.records == expected, "seed \(seed)")
  }

  @Test(arguments: FakeREST.styles)
  func holdsAtAJSONAPIOfEachStyle(_ style: FakeREST.Style) async throws {
    for seed in 1...UInt64(Seeds.isSoak ? 40 : 4) {
      try await Self.expectEqual(
        .restInMemory(style, seed: seed, faults: seed % 4 < 2 ? 0.1 : 0), seed: seed, records: 30)
    }
  }

  @Test(arguments: KintoKind.trials)
  func holdsAtKinto(_ trial: KintoKind.Trial) async throws {
    try await TriedRemote.withKinto(trial.kind, seed: trial.seed, faults: 0.05) {
      try await Self.expectEqual($0, seed: trial.seed)
    }
  }
}
