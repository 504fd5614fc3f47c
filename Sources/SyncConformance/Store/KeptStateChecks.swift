import SyncModels
import SyncPorts

/// Marks, checkpoints and values: what the engine notes down beside the records.
enum KeptStateChecks {
  static func marksTellWhatAListingHeld(_ bench: StoreBench) async throws {
    try await bench.put(
      StoreBench.copy("games", "b", version: 2, tag: "x"), StoreBench.copy("games", "a"),
      StoreBench.copy("games", "c"), StoreBench.copy("games", "gone"), StoreBench.copy("teams", "a"))
    try await bench.delete(StoreBench.tombstone("games", "gone"))
    try await bench.write { transaction throws(SyncError) in
      try transaction.mark([
        StoreBench.game("c"), StoreBench.game("gone"), StoreBench.game("never"), StoreBench.team("a"),
      ])
      try transaction.mark([StoreBench.game("c")])
    }
    try await expectUnmarked(bench, ["a", "b"], of: 3)
    try expect(
      try await bench.state(StoreBench.game("c"))?.isMarked, equals: true, "A marked record says so.")
    try expect(
      try await bench.state(StoreBench.game("a"))?.isMarked, equals: false, "An unmarked record says so.")
    try expect(try await bench.state(StoreBench.game("never")) == nil, "A mark makes no record.")
    let (portion, rest) = try await bench.read { snapshot throws(SyncError) in
      (
        try snapshot.unmarked("games", afterKey: nil, limit: 1),
        try snapshot.unmarked("games", afterKey: "a", limit: 9)
      )
    }
    try expect(portion.map(\.id.key), equals: ["a"], "No more come than the limit.")
    try expect(
      rest,
      equals: [
        Tombstone(
          id: StoreBench.game("b"), version: Version(sequence: 2, modifiedAt: Timestamp(milliseconds: 2)),
          entityTag: "x")
      ], "Unmarked records come after the key, with their versions and entity tags.")
    try await bench.delete(StoreBench.tombstone("games", "b"))
    try await expectUnmarked(bench, ["a"], of: 2)
    try await bench.write { transaction throws(SyncError) in try transaction.clearMarks("games") }
    try await expectUnmarked(bench, ["a", "c"], of: 2)
    let teams = try await bench.read { snapshot throws(SyncError) in
      try snapshot.unmarkedCount("teams").unmarked
    }
    try expect(teams, equals: 0, "Clearing one type's marks leaves the others'.")
  }

  private static func expectUnmarked(_ bench: StoreBench, _ keys: [String], of live: Int) async throws {
    let (counts, found) = try await bench.read { snapshot throws(SyncError) in
      let counts = try snapshot.unmarkedCount("games")
      return (
        [counts.unmarked, counts.live], try snapshot.unmarked("games", afterKey: nil, limit: 99).map(\.id.key)
      )
    }
    try expect(found, equals: keys, "Unmarked are the live records that no mark was put on, by key.")
    try expect(counts, equals: [keys.count, live], "Unmarked and live records are counted.")
  }

  static func checkpointsComeBack(_ bench: StoreBench) async throws {
    let scope = Checkpoint.Scope(source: "s é \u{0}", query: "q", schemaVersion: 3, store: "x")
    var full = Checkpoint(scope: scope)
    full.committed = SyncToken("token \" e\u{301}")
    full.committedAt = Timestamp(microseconds: .max)
    full.inFlight = .init(
      number: 1 << 53, base: SyncToken(""), coverage: .everything, resumeAt: PageToken("p"),
      candidate: SyncToken("c"),
      fetched: 7, total: 9)
    full.lastPass = 12
    full.epoch = 3
    full.sweptPass = 11
    full.sweptFence = .max
    full.deletionsVerifiedAt = Timestamp(microseconds: -1)
    full.sweep = .init(pass: 3, listed: 0, refusal: .massDeletion(missing: 5, of: 6))
    var other = full
    other.sweep = .init(pass: 3, refusal: .unidentifiedMalformed(2))
    other.inFlight = .init(number: 1, base: nil, coverage: .changes)
    for checkpoint in [full, other, Checkpoint(scope: scope)] {
      try await bench.write { transaction throws(SyncError) in
        try transaction.setCheckpoint(checkpoint, for: "games")
      }
      let (games, teams) = try await bench.read { snapshot throws(SyncError) in
        (try snapshot.checkpoint(for: "games"), try snapshot.checkpoint(for: "teams"))
      }
      try expect(games == checkpoint, "A checkpoint comes back as it was saved, in place of the one before.")
      try expect(teams == nil, "A type has no checkpoint until one is saved for it.")
    }
  }

  static func valuesComeBack(_ bench: StoreBench) async throws {
    try await bench.write { transaction throws(SyncError) in
      try transaction.setValue([0, 255], forKey: "\u{e9}")
      try transaction.setValue([], forKey: "e\u{301}")
      try transaction.setValue([1], forKey: "k")
      try transaction.setValue([2], forKey: "k")
      try transaction.setValue([3], forKey: "f")
      try transaction.setValue(nil, forKey: "f")
      try transaction.setValue(nil, forKey: "never")
    }
    let found = try await bench.read { snapshot throws(SyncError) in
      var found: [[UInt8]?] = []
      for key in ["\u{e9}", "e\u{301}", "k", "f", "never"] { found.append(try snapshot.value(forKey: key)) }
      return found
    }
    try expect(
      found, equals: [[0, 255], [], [2], nil, nil],
      "Values come back under their keys, until they are forgotten.")
  }

  static func keysAreFoundByPrefix(_ bench: StoreBench) async throws {
    // The last begins with the prefix's bytes, and with another character.
    let names = ["a", "p", "p/", "p/1", "p/2", "p/\u{e9}", "p0", "p/\u{301}"]
    try await bench.write { transaction throws(SyncError) in
      for name in names { try transaction.setValue([], forKey: name) }
      try transaction.setValue([], forKey: "p/gone")
      try transaction.setValue(nil, forKey: "p/gone")
    }
    let (all, portion, rest, none) = try await bench.read { snapshot throws(SyncError) in
      (
        try snapshot.keys(withPrefix: "p/", after: nil, limit: 99),
        try snapshot.keys(withPrefix: "p/", after: "a", limit: 2),
        try snapshot.keys(withPrefix: "p/", after: "p/1", limit: 2),
        try snapshot.keys(withPrefix: "p/", after: "q", limit: 2)
      )
    }
    let bytes = all.map { Array($0.utf8) }
    let expected = ["p/", "p/1", "p/2", "p/\u{e9}", "p/\u{301}"].map { Array($0.utf8) }
    try expect(
      bytes, equals: expected.sorted { $0.lexicographicallyPrecedes($1) },
      "All names with the bytes of a prefix are found, in the order of their bytes, and no other.")
    try expect(portion, equals: ["p/", "p/1"], "No more come than the limit.")
    try expect(rest.first, equals: "p/2", "Names come after the one named.")
    try expect(none, equals: [], "No name with the prefix comes after one behind all of them.")
  }
}
