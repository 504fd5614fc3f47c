#if SQLite
  import Foundation
  import Testing

  /// Stores with flipped bits, cut files and tampered rows, each of which an app opens, syncs, looks into, edits, rebuilds and cleans up.
  ///
  /// What comes of that is an error or is none; the process lives, and no step goes on for ever. Processes go through many stores each, as one for
  /// every store would take too long; one that dies, or ends itself because a step had no end, has said before which store it was at.
  @Suite("Damaged stores", .serialized, .timeLimit(.minutes(20)))
  struct DamagedStoreTests {
    private static let environment = ProcessInfo.processInfo.environment

    private static let stores = environment["CANONICALSYNC_SOAK"] != nil ? 20_000 : 1000
    /// The first store's number, which decides what befalls it.
    private static let first = environment["CANONICALSYNC_SEED"].flatMap { Int($0) } ?? 0
    private static let processes = 2

    @Test func killNoProcessAndHoldNoneForEver() async throws {
      var counts = (opened: 0, synced: 0, resynced: 0)
      try await withFolder { folder in
        let share = Self.stores / Self.processes
        let running = try (0..<Self.processes).map { number in
          let directory = folder.url.appending(path: "\(number)")
          try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
          return try Tool(name: "sync-worker").start(
            ["damaged", directory.path, "\(Self.first + number * share)", "\(share)"])
        }
        for process in running {
          let outcome = await process.outcome()
          let lines = outcome.lines
          let store = lines.last { $0.hasPrefix("store ") } ?? "none"
          let step = lines.last { $0.hasPrefix("step ") || $0.hasPrefix("stuck ") } ?? "none"
          #expect(
            outcome.status == 0 && !outcome.wasKilled,
            """
            The last store: \(store). The last step: \(step). CANONICALSYNC_SEED=<its number> tries from there. \
            \(outcome.errors.suffix(2000))
            """)
          let words = (lines.last { $0.hasPrefix("done ") } ?? "").split(separator: " ").map { Int($0) ?? 0 }
          guard words.count == 8 else { continue }
          #expect(words[1] == share)
          counts = (counts.opened + words[3], counts.synced + words[5], counts.resynced + words[7])
        }
      }
      // Stores that do not even open would prove little.
      #expect(counts.opened > Self.stores / 2 && counts.opened < Self.stores)
      #expect(counts.synced > Self.stores / 5 && counts.synced < counts.opened)
      #expect(counts.resynced > Self.stores / 5)
    }
  }
#endif
