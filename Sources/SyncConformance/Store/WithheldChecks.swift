import SyncModels
import SyncPorts

/// Withheld changes: stored, and not visible.
enum WithheldChecks {
  private static let all = Set(WithheldChange.Kind.allCases)

  static func everyKindAndChangeComesBack(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy(
      "games", "u", #"{"home":"t","v":1.5,"code":[1],"schema":9}"#, version: 3, tag: "é", schema: 9)
    let bytes = Payload([0x00, 0xFF, 0x22])
    let changes: [(WithheldChange.Key, RecordChange)] = [
      (.record(copy.id), .upsert(copy)),
      (.record(StoreBench.game("t")), .tombstone(StoreBench.tombstone("games", "t", version: 5, tag: "x"))),
      (.record(StoreBench.game("n")), .tombstone(StoreBench.tombstone("games", "n"))),
      (
        .record(StoreBench.game("p")),
        .malformed(MalformedRecord(type: "games", key: "p", bytes: bytes, reason: "r", location: "line 3"))
      ),
      (
        .bytes("games", digest: .max),
        .malformed(MalformedRecord(type: "games", bytes: bytes, reason: "r"))
      ),
      (.bytes("games", digest: 0), .upsert(copy)),
    ]
    let finders: [WithheldChange.Finder] = [.sync(fence: 7), .push(fence: 7), .store]
    for kind in WithheldChange.Kind.allCases {
      var entries: [WithheldChange] = []
      for (key, change) in changes {
        entries.append(
          WithheldChange(
            key: key, kind: kind, change: change, reason: "because \u{0} é",
            waitsFor: [StoreBench.team("z"), StoreBench.team("e\u{301}"), StoreBench.game("g")], pass: .max,
            finder: finders[entries.count % finders.count], since: Timestamp(microseconds: -1)))
      }
      for entry in entries { try await bench.withhold(entry) }
      let found = try await bench.entries()
      for entry in entries {
        try expect(found.contains(entry), "A change withheld as \(kind) is returned unchanged: \(entry.key).")
      }
      try expect(found.count, equals: entries.count, "No other change is withheld.")
    }
  }

  static func entryReplacesTheOneWithItsKey(_ bench: StoreBench) async throws {
    let key = WithheldChange.Key.record(StoreBench.game("g"))
    try await bench.withhold(
      StoreBench.entry(key, .parked, waitsFor: [StoreBench.team("t")]),
      StoreBench.entry(.bytes("games", digest: 1)))
    let entry = StoreBench.entry(key, .held, waitsFor: [StoreBench.team("u")], reason: "later")
    try await bench.withhold(entry)
    let found = try await bench.entries()
    try expect(found.first, equals: entry, "A later entry replaces the one with its key.")
    try expect(found.count, equals: 2, "Other entries stay.")
    let (counts, parked) = try await bench.write { transaction throws(SyncError) in
      (
        try transaction.withheldCounts("games"),
        try transaction.parked(waitingFor: [StoreBench.team("t"), StoreBench.team("u")], limit: 9)
      )
    }
    try expect(counts[.held] ?? 0, equals: 1, "The later entry's kind is counted.")
    try expect(counts[.parked] ?? 0, equals: 1, "The replaced entry's kind is not counted.")
    try expect(parked, equals: [], "Only parked entries that were not replaced wait.")
  }

  static func entriesComeByKeyInPortions(_ bench: StoreBench) async throws {
    let keys: [WithheldChange.Key] =
      ["B", "a", "e\u{301}", "\u{e9}", "～", "😀"].map { .record(StoreBench.game($0)) }
      + [1, UInt64(Int64.max), 1 << 63, .max].map { .bytes("games", digest: $0) }
    for key in keys.reversed() { try await bench.withhold(StoreBench.entry(key)) }
    try await bench.withhold(StoreBench.entry(.record(StoreBench.team("a"))))
    try expect(
      try await bench.entries().map(\.key), equals: keys,
      "Entries come by key: those of records by id, then those of bytes by digest.")
    for (index, key) in keys.enumerated() {
      try expect(
        try await bench.entries(after: key, limit: 2).map(\.key),
        equals: Array(keys[(index + 1)...].prefix(2)),
        "A portion begins after the key given and holds no more than its limit.")
    }
    try expect(
      try await bench.entries(after: .record(StoreBench.game("b")), limit: 1).map(\.key), equals: [keys[2]],
      "A portion may begin after a key that is not there.")
    try expect(try await bench.entries(limit: 0).map(\.key), equals: [], "A portion of none is empty.")
  }

  static func kindsAreToldApartAndCounted(_ bench: StoreBench) async throws {
    let kinds: [WithheldChange.Kind] = [.parked, .held, .parked, .quarantined]
    for (index, kind) in kinds.enumerated() {
      try await bench.withhold(StoreBench.entry(.record(StoreBench.game("g\(index)")), kind))
    }
    try await bench.withhold(StoreBench.entry(.record(StoreBench.team("t")), .missing))
    try expect(
      try await bench.entries(kinds: [.parked, .quarantined]).map(\.key),
      equals: ["g0", "g2", "g3"].map { .record(StoreBench.game($0)) },
      "Only entries of the kinds asked for come.")
    try expect(
      try await bench.entries(kinds: [.parked], after: .record(StoreBench.game("g0")), limit: 1).map(\.key),
      equals: [.record(StoreBench.game("g2"))], "A portion is of the kinds asked for.")
    try expect(try await bench.entries(kinds: []).map(\.key), equals: [], "No kinds select no entries.")
    try await expectCounts(bench, [.parked: 2, .held: 1, .quarantined: 1])
    try await bench.write { transaction throws(SyncError) in
      try transaction.release([
        .record(StoreBench.game("g0")), .record(StoreBench.game("never")), .bytes("games", digest: 5),
      ])
    }
    try await expectCounts(bench, [.parked: 1, .held: 1, .quarantined: 1])
    try expect(try await bench.entries().count, equals: 3, "Removed entries are gone, the others stay.")
  }

  private static func expectCounts(_ bench: StoreBench, _ wanted: [WithheldChange.Kind: Int]) async throws {
    let counts = try await bench.read { snapshot throws(SyncError) in try snapshot.withheldCounts("games") }
    try expect(counts.filter { $0.value != 0 }, equals: wanted, "Entries of a type are counted by kind.")
  }

  static func entriesAreFoundByKey(_ bench: StoreBench) async throws {
    try await bench.withhold(
      StoreBench.entry(.record(StoreBench.game("a"))), StoreBench.entry(.record(StoreBench.game("b")), .held),
      StoreBench.entry(.record(StoreBench.team("a"))), StoreBench.entry(.bytes("games", digest: 3)))
    let present: [WithheldChange.Key] = [
      .record(StoreBench.game("b")), .record(StoreBench.team("a")), .bytes("games", digest: 3),
    ]
    let keys = present + [.record(StoreBench.game("c")), .bytes("games", digest: 4)]
    let found = try await bench.read { snapshot throws(SyncError) in try snapshot.withheld(for: keys) }
    try expect(Set(found.map(\.key)), equals: Set(present), "The entries of the keys asked for come.")
    try expect(found.count, equals: 3, "Each entry comes once.")
  }

  static func parkedEntriesAreFoundByWhatTheyWaitFor(_ bench: StoreBench) async throws {
    let (s, t, u) = (StoreBench.team("s"), StoreBench.team("t"), StoreBench.team("u"))
    try await bench.withhold(
      StoreBench.entry(.record(StoreBench.game("c")), waitsFor: [t]),
      StoreBench.entry(.record(StoreBench.game("a")), waitsFor: [u, t]),
      StoreBench.entry(.record(StoreBench.game("b")), waitsFor: [s]),
      StoreBench.entry(.record(StoreBench.team("x")), waitsFor: [t]),
      StoreBench.entry(.record(StoreBench.game("h")), .held, waitsFor: [t]),
      StoreBench.entry(.record(StoreBench.game("v")), waitsFor: [RecordID(type: "venues", key: "t")]))
    let (found, first, none) = try await bench.write { transaction throws(SyncError) in
      (
        try transaction.parked(waitingFor: [t, u], limit: 9).map(\.key),
        try transaction.parked(waitingFor: [u, t], limit: 2).map(\.key),
        try transaction.parked(waitingFor: [StoreBench.team("y")], limit: 9).map(\.key)
      )
    }
    let wanted: [WithheldChange.Key] = [
      .record(StoreBench.game("a")), .record(StoreBench.game("c")), .record(StoreBench.team("x")),
    ]
    try expect(found, equals: wanted, "Parked entries that wait for any of the records come once, by key.")
    try expect(first, equals: Array(wanted.prefix(2)), "No more come than the limit.")
    try expect(none, equals: [], "Entries that wait for other records stay.")
    let (rest, absent, kinds) = try await bench.read { snapshot throws(SyncError) in
      func found(
        _ kinds: Set<WithheldChange.Kind>, after key: WithheldChange.Key
      ) throws(SyncError) -> [WithheldChange.Key] {
        try snapshot.withheld(.waitingFor, [t, u], kinds: kinds, after: key, limit: 1).map(\.key)
      }
      return (
        try wanted.map { (key) throws(SyncError) in try found([.parked], after: key) },
        try found([.parked], after: .record(StoreBench.game("b"))),
        try found([.hidden, .staged], after: .record(StoreBench.game("")))
      )
    }
    try expect(
      rest, equals: [[wanted[1]], [wanted[2]], []],
      "A portion begins after the key given and holds no more than its limit.")
    try expect(absent, equals: [wanted[1]], "A portion may begin after a key that does not wait.")
    try expect(kinds, equals: [], "Only entries of the kinds asked for come.")
    let left = try await bench.write { transaction throws(SyncError) in
      try transaction.release([wanted[0]])
      return try transaction.parked(waitingFor: [t, u], limit: 9).map(\.key)
    }
    try expect(left, equals: Array(wanted.dropFirst()), "A removed entry does not wait.")
  }

  static func entriesAreFoundByWhatTheyReferTo(_ bench: StoreBench) async throws {
    let (s, t) = (StoreBench.team("s"), StoreBench.team("t"))
    let venue = RecordID(type: "venues", key: "t")
    func game(_ key: String, _ json: String, _ kind: WithheldChange.Kind = .parked) throws -> WithheldChange {
      let copy = try StoreBench.copy("games", key, json)
      return StoreBench.entry(.record(copy.id), kind, .upsert(copy))
    }
    let own = try StoreBench.copy("teams", "t", #"{"parent":"t"}"#)
    try await bench.withhold(
      game("both", #"{"home":"s","away":"t"}"#), game("hidden", #"{"home":"t"}"#, .hidden),
      game("newer", #"{"away":"t","schema":9}"#, .incompatible), game("other", #"{"home":"u"}"#),
      game("placed", #"{"venue":"t"}"#, .hidden),
      StoreBench.entry(.record(t), .hidden, .upsert(own)),
      StoreBench.entry(.record(StoreBench.game("waits")), waitsFor: [t]),
      StoreBench.entry(
        .bytes("games", digest: 1), .quarantined, .upsert(try StoreBench.copy("games", "x", #"{"home":"t"}"#))
      ))
    func found(
      _ ids: [RecordID], _ kinds: Set<WithheldChange.Kind> = all, after: WithheldChange.Key? = nil,
      limit: Int = 9
    ) async throws -> [WithheldChange.Key] {
      try await bench.read { snapshot throws(SyncError) in
        try snapshot.withheld(.referringTo, ids, kinds: kinds, after: after, limit: limit).map(\.key)
      }
    }
    func keys(_ games: String...) -> [WithheldChange.Key] { games.map { .record(StoreBench.game($0)) } }
    let bytes = WithheldChange.Key.bytes("games", digest: 1)
    try expect(
      try await found([t, s]), equals: keys("both", "hidden", "newer") + [bytes],
      "Entries whose copies refer to one of the records come once, by key, whatever they wait for.")
    try expect(try await found([venue]), equals: keys("placed"), "Unordered references count.")
    try expect(
      try await found([t], [.hidden, .incompatible]), equals: keys("hidden", "newer"),
      "Only entries of the kinds asked for come.")
    try expect(
      try await found([s, t], after: keys("both")[0], limit: 2), equals: keys("hidden", "newer"),
      "A portion begins after the key given and holds no more than its limit.")
    try expect(
      try await found([t], after: keys("newer")[0]), equals: [bytes],
      "Entries of bytes come after those of records.")
    try await bench.withhold(game("hidden", #"{"home":"s"}"#, .hidden))
    try await bench.write { transaction throws(SyncError) in
      try transaction.release([.record(StoreBench.game("newer"))])
    }
    try expect(
      try await found([t]), equals: keys("both") + [bytes], "Removed and replaced entries have no references."
    )
    try expect(try await found([s]), equals: keys("both", "hidden"), "The replacing entry is found.")
  }

  static func changedReferencesHoldForAllEntries(_ bench: StoreBench) async throws {
    let count = 1200
    let entries = try (0..<count).map { number in
      let copy = try StoreBench.copy("games", "g\(10_000 + number)", #"{"home":"t","rival":"t"}"#)
      return StoreBench.entry(.record(copy.id), .hidden, .upsert(copy))
    }
    try await bench.write { transaction throws(SyncError) in try transaction.withhold(entries) }
    let declared = Entity(
      "games", schemaVersion: 3, schemaVersionField: "schema",
      references: [.to("venues", by: "home"), .to("teams", by: "rival", ordered: false)],
      naturalKey: NaturalKey("code"), indexes: ["v"])
    try await bench.store.register(try SyncSchema(declared, StoreBench.venues, StoreBench.teams))
    let found = try await bench.read { snapshot throws(SyncError) in
      try [StoreBench.team("t"), RecordID(type: "venues", key: "t")].map { (id) throws(SyncError) in
        try snapshot.withheld(.referringTo, [id], kinds: all, after: nil, limit: 2 * count).count
      }
    }
    try expect(found, equals: [count, count], "Entries are found by the references that were declared last.")
    try await bench.store.register(try SyncSchema(Entity("games"), StoreBench.venues, StoreBench.teams))
    let none = try await bench.read { snapshot throws(SyncError) in
      try snapshot.withheld(
        .referringTo, [StoreBench.team("t"), RecordID(type: "venues", key: "t")], kinds: all, after: nil,
        limit: 9)
    }
    try expect(none, equals: [], "A field that is no longer a reference is ignored.")
  }

  static func entriesShowNothing(_ bench: StoreBench) async throws {
    let live = try StoreBench.copy("games", "live", #"{"v":1}"#, version: 2)
    try await bench.put(live)
    let update = try StoreBench.copy("games", "live", #"{"v":2}"#, version: 3)
    let new = try StoreBench.copy("games", "new", #"{"v":2}"#, version: 3)
    try await bench.withhold(
      StoreBench.entry(.record(live.id), .parked, .upsert(update)),
      StoreBench.entry(.record(new.id), .staged, .upsert(new)))
    try expect(try await bench.records(Query("games")), equals: [live], "A withheld change is not visible.")
    try expect(try await bench.record(new.id) == nil, "A withheld change is not returned by id.")
    try expect(
      try await bench.state(live.id)?.version, equals: live.version,
      "A withheld change keeps the stored version.")
    try expect(
      try await bench.keys(Query("games", where: .equal("v", 2))), equals: [],
      "A withheld change is not found.")
    try await bench.delete(StoreBench.tombstone("games", "live"))
    try expect(try await bench.entries().count, equals: 2, "Entries stay until they are removed.")
  }
}
