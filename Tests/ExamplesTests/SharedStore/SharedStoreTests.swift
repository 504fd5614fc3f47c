#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import InMemoryAdapters
  import Testing

  /// Processes that edit and sync one store, with kills and stops at random instants.
  ///
  /// Stops last longer than the lease. The server outlives the processes, and other clients edit
  /// the same records there.
  @Suite("Processes that share a store", .serialized, .timeLimit(.minutes(20)))
  struct SharedStoreTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// The number of kills and stops: `CANONICALSYNC_KILLS`, or 60.
    static let strikes = environment["CANONICALSYNC_KILLS"].flatMap { Int($0) } ?? 60
    /// The seed of random decisions. Instants also depend on the machine, so one seed may need
    /// several tries.
    static let seed = environment["CANONICALSYNC_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...999_999)

    @Test func loseNothingAndDoubleNothingWhereverTheyAreKilledOrStopped() async throws {
      let replay: Comment =
        "CANONICALSYNC_SEED=\(Self.seed) swift test --filter SharedStoreTests tries the same again"
      try await BookkeepingKinto.with(batchLimit: 7) { server in
        try await withFolder { folder in
          let others = Others(server, random: SplitMix64(seed: Self.seed))
          others.writeTheFirstRecords()
          let store = folder.path("shared.sqlite")
          var crew = try Crew(
            of: 3, store: store, server: server, others: others, random: SplitMix64(seed: ~Self.seed))
          defer { crew.killAll() }
          var strikes = 0
          // A run without these events would prove nothing.
          while strikes < Self.strikes || crew.takeovers == 0 || !crew.hasLostALease {
            strikes += 1
            try await crew.strike()
          }
          others.rest()
          let account = try await crew.end()

          try await expectTheTruth(in: store, at: server, account: account, others: others, replay)
          #expect(account.unexpectedFailures == [:], replay)
          #expect(crew.kills > 0 && crew.stops > 0, replay)
          #expect(account.made.count > Self.strikes, replay)
        }
      }
    }
  }
#endif
