#if SQLite
  import Foundation
  import Testing

  /// Stores with flipped bits, cut files and changed rows, used like intact ones.
  ///
  /// A verification finds each store that lists other edits than before. A salvage keeps every edit
  /// that is readable, and a sync makes its new store equal to the remote. Then an app opens,
  /// syncs, inspects, edits, rebuilds and cleans up the damaged store. Every step succeeds
  /// or throws, the process survives, and no step exceeds its time limit. One process handles many
  /// stores, because a process for each would take too long. A process that dies, or ends itself
  /// after a time limit, has printed the number of its store before.
  @Suite("Damaged stores", .serialized)
  struct DamagedStoreTests {
    private static let environment = ProcessInfo.processInfo.environment

    private static let stores = environment["CANONICALSYNC_DAMAGED"].flatMap { Int($0) } ?? 100
    /// The number of the first store, which determines its damage.
    private static let first = environment["CANONICALSYNC_SEED"].flatMap { Int($0) } ?? 0
    private static let processes = 2

    @Test(.timeLimit(.minutes(20 + stores / 50)))
    func killNoProcessAndHoldNoneForEver() async throws {
      var counts = (opened: 0, synced: 0, resynced: 0)
      var verified = (changed: 0, found: 0, silent: [String]())
      try await withFolder { folder in
        let share = Self.stores / Self.processes
        let running = try (0..<Self.processes).map { number in
          let directory = folder.url.appending(path: "\(number)")
          try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
          return try Tool(name: "canonical-sync-worker").start(
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
          let complaints = lines.filter { $0.hasPrefix("complaint ") }
          #expect(complaints == [])
          let checked = (lines.last { $0.hasPrefix("verified ") } ?? "").split(separator: " ").map {
            Int($0) ?? 0
          }
          #expect(checked.count == 10)
          if checked.count == 10 {
            verified.changed += checked[3]
            verified.found += checked[5]
            verified.silent += lines.filter { $0.hasPrefix("silent ") }
            #expect(checked[9] == share)
          }
          let words = (lines.last { $0.hasPrefix("done ") } ?? "").split(separator: " ").map { Int($0) ?? 0 }
          guard words.count == 8 else { continue }
          #expect(words[1] == share)
          counts = (counts.opened + words[3], counts.synced + words[5], counts.resynced + words[7])
        }
      }
      // Stores that cannot be opened prove little.
      #expect(counts.opened > Self.stores / 2 && counts.opened < Self.stores)
      #expect(counts.synced > Self.stores / 5 && counts.synced < counts.opened)
      #expect(counts.resynced > Self.stores / 5)
      #expect(verified.changed > Self.stores / 5 && verified.found > Self.stores / 2)
      #expect(verified.silent == [])
    }
  }
#endif
