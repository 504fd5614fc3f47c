#if SQLite
  import Foundation
  import Testing

  /// The memory of a sync, as the process reports it.
  @Suite("The memory of a sync", .serialized, .timeLimit(.minutes(20)))
  struct MemoryTests {
    let tool = Tool(name: "schedule-sync")

    /// Enough to fill the caches, and several times as many. A soak has a million records.
    static let games =
      ProcessInfo.processInfo.environment["CANONICALSYNC_SOAK"] == nil
      ? 80_000...192_000 : 100_000...1_000_000

    @Test func doesNotGrowWithTheRecords() async throws {
      let few = try await peak(games: Self.games.lowerBound)
      let many = try await peak(games: Self.games.upperBound)
      #expect(Double(many) < Double(few) * 1.25, "\(few) bytes, and \(many) for more records")
      #expect(many < 150 << 20)
    }

    private func peak(games: Int) async throws -> Int {
      try await withFolder { folder in
        try folder.writeSchedule(games: games)
        let options = ["--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--json"]
        let first = try await tool.start(options).outcome()
        #expect(try first.count("inserted", of: "games") == games)
        // A second complete listing marks its records, and takes no more memory.
        let second = try await tool.start(options + ["--resync"]).outcome()
        #expect(try second.count("unchanged", of: "games") == games)
        return try max(first.count("peakBytes"), second.count("peakBytes"))
      }
    }
  }
#endif
