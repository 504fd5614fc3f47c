import SyncModels
import SyncPorts

/// Marks and kept values: the engine's state beside the records.
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
        try snapshot.rows("games", .unmarked, after: nil, limit: 1),
        try snapshot.rows("games", .unmarked, after: "a", limit: 9)
      )
    }
    try expect(portion.map(\.id.key), equals: ["a"], "No more come than the limit.")
    try expect(
      rest,
      equals: [
        StoredRow(
          id: StoreBench.game("b"), version: Version(sequence: 2, modifiedAt: Timestamp(milliseconds: 2)),
          entityTag: "x", record: try StoreBench.copy("games", "b", version: 2, tag: "x"), isMarked: false)
      ], "Unmarked records come after the key, with their versions, entity tags and copies.")
    try await bench.delete(StoreBench.tombstone("games", "b"))
    try await expectUnmarked(bench, ["a"], of: 2)
    try await bench.write { transaction throws(SyncError) in try transaction.clearMarks("games") }
    try await expectUnmarked(bench, ["a", "c"], of: 2)
    let teams = try await bench.read { snapshot throws(SyncError) in
      try snapshot.counts("teams", rows: true).rows?.unmarked
    }
    try expect(teams, equals: 0, "Clearing one type's marks leaves the others'.")
  }

  private static func expectUnmarked(_ bench: StoreBench, _ keys: [String], of live: Int) async throws {
    let (counts, found) = try await bench.read { snapshot throws(SyncError) in
      let counts = try snapshot.counts("games", rows: true).rows
      return (
        [counts?.unmarked, counts?.live],
        try snapshot.rows("games", .unmarked, after: nil, limit: 99).map(\.id.key)
      )
    }
    try expect(found, equals: keys, "Unmarked are the live records that no mark was put on, by key.")
    try expect(counts, equals: [keys.count, live], "Unmarked and live records are counted.")
  }

  static func marksStayWithTheirRecord(_ bench: StoreBench) async throws {
    let keys = ["deleted", "moved", "put", "touched", "unmarked"]
    try await bench.put(keys.map { try StoreBench.copy("games", $0) })
    try await bench.write { transaction throws(SyncError) in
      try transaction.mark(keys.dropLast().map(StoreBench.game))
    }
    let (put, touched) = (
      try StoreBench.copy("games", "put", #"{"v":1}"#, version: 2),
      try StoreBench.copy("games", "touched", version: 2, tag: "t")
    )
    let again = try StoreBench.copy("games", "deleted", version: 20)
    let moved = try StoreBench.copy("games", "moved", version: 20)
    try await bench.write { transaction throws(SyncError) in
      try transaction.put([put])
      try transaction.updateVersions([touched])
      try transaction.delete([
        StoreBench.tombstone("games", "deleted"), StoreBench.tombstone("games", "moved"),
      ])
      try transaction.put([moved])
    }
    try await expectUnmarked(bench, ["unmarked"], of: 4)
    try expect(
      try await bench.state(again.id)?.isMarked, equals: true, "A deleted record keeps its mark.")
    try await bench.put(again)
    try await expectUnmarked(bench, ["unmarked"], of: 5)
    let declared = Entity(
      "games", schemaVersion: 3, schemaVersionField: "schema", references: StoreBench.games.references,
      naturalKey: NaturalKey("code"), indexes: ["v", "w"])
    try await bench.store.register(try SyncSchema(declared, StoreBench.venues, StoreBench.teams))
    try await expectUnmarked(bench, ["unmarked"], of: 5)
  }

  static func rowsShowLiveAndDeletedRecords(_ bench: StoreBench) async throws {
    let live = try StoreBench.copy("games", "b", #"{"v":1}"#, version: 2, tag: "x")
    try await bench.put(live, StoreBench.copy("games", "a"), StoreBench.copy("teams", "t"))
    try await bench.delete(StoreBench.tombstone("games", "a"), StoreBench.tombstone("games", "never"))
    try await bench.write { transaction throws(SyncError) in try transaction.mark([live.id]) }
    let (all, rest, none) = try await bench.read { snapshot throws(SyncError) in
      (
        try snapshot.rows("games", .all, after: nil, limit: 2),
        try snapshot.rows("games", .all, after: "b", limit: 9),
        try snapshot.rows("games", .all, after: "never", limit: 9)
      )
    }
    try expect(all.map { Bytes($0.id.key) }, equals: ["a", "b"], "Rows come by key, no more than the limit.")
    try expect(all.map(\.record), equals: [nil, live], "A live row has its copy, a deleted one none.")
    try expect(all.map(\.isMarked), equals: [false, true], "Rows say whether they are marked.")
    try expect(
      all.map(\.version), equals: [StoreBench.tombstone("games", "a").version, live.version],
      "Rows have their versions, live or deleted.")
    try expect(rest.map { Bytes($0.id.key) }, equals: ["never"], "Rows come after the key.")
    try expect(none, equals: [], "The last portion is empty.")
    let unregistered = try await bench.read { snapshot throws(SyncError) in
      try snapshot.rows("nobody", .all, after: nil, limit: 9)
    }
    try expect(unregistered, equals: [], "A type that is not registered has no rows.")
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

  /// Values of one family, more of them than a store may remember.
  static func manyValuesComeBack(_ bench: StoreBench) async throws {
    let keys = (0..<1200).map { "family/\($0)" }
    let first = Dictionary(uniqueKeysWithValues: keys.map { ($0, Array($0.utf8)) })
    try await bench.write { transaction throws(SyncError) in
      for key in keys { try transaction.setValue(first[key], forKey: key) }
    }
    @Sendable func values(_ snapshot: any StoreSnapshot) throws(SyncError) -> [String: [UInt8]] {
      var values: [String: [UInt8]] = [:]
      for key in keys + ["family/none"] { values[key] = try snapshot.value(forKey: key) }
      return values
    }
    let twice = try await bench.read { snapshot throws(SyncError) in
      [try values(snapshot), try values(snapshot)]
    }
    try expect(twice, equals: [first, first], "Each of many values comes back, however often it is read.")
    var second = first
    for (place, key) in keys.enumerated() where place % 3 == 0 { second[key] = place % 2 == 0 ? [7] : nil }
    let changed = second
    let (before, within) = try await bench.write { transaction throws(SyncError) in
      let before = try values(transaction)
      for key in keys where changed[key] != first[key] { try transaction.setValue(changed[key], forKey: key) }
      return (before, try values(transaction))
    }
    try expect(before, equals: first, "A transaction sees the many values from before it.")
    try expect(within, equals: changed, "A transaction sees which of many values it has changed.")
    let after = try await bench.write { transaction throws(SyncError) in try values(transaction) }
    try expect(after, equals: changed, "Many values stay as they were changed.")
    let read = try await bench.read { snapshot throws(SyncError) in try values(snapshot) }
    try expect(read, equals: changed, "A reader sees which of many values were changed.")
  }

  static func keysAreFoundByPrefix(_ bench: StoreBench) async throws {
    // The last name begins with the prefix's bytes, and has another character.
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
