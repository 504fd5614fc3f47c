import SyncModels
import SyncPorts

/// The edits that the remote has not acknowledged.
enum OutboxChecks {
  static func outboxEntriesComeBackWhole(_ bench: StoreBench) async throws {
    let latest = EditStamp(physical: Timestamp(microseconds: .max), counter: .max, replica: "e\u{301} \u{0}")
    let payloads = [#"{"v": 1.50, "é":"\u0000"}"#, "{}", ""]
    let edits =
      payloads.map { StoreBench.edit($0, at: latest, schema: 3) } + [Edit(.deletion, stamp: latest)]
    var copy = try StoreBench.copy("games", "g", #"{"home":"t","v":9}"#, version: 4, tag: "é", schema: 2)
    let withFields = copy
    copy.fields = []
    let bases: [OutboxEntry.Base] = [
      .none, .copy(copy), .deleted(StoreBench.tombstone("games", "g", tag: "x")),
      .deleted(Tombstone(id: copy.id, version: .unversioned)),
    ]
    let states: [OutboxEntry.State] = [
      .waiting, .postponed(until: Timestamp(microseconds: .min)),
      .refused(reason: "because \u{0} é", at: Timestamp(milliseconds: 7)),
    ]
    for edit in edits {
      // The sent edit may be the pending one, the same content at another time, or another edit.
      let sent: [Edit?] = [
        nil, edit, Edit(edit.content, stamp: StoreBench.stamp(3)), Edit(.deletion, stamp: edit.stamp),
        StoreBench.edit(#"{"sent":1}"#, at: StoreBench.stamp(-5, 9, by: "")),
      ]
      for (place, sent) in sent.enumerated() {
        for base in bases {
          let rebuilt = OutboxEntry.Rebuilt(
            lastWrite: StoreBench.stamp(-7, .max, by: "é"), pass: .max,
            winner: place == 1 ? nil : StoreBench.game("w\u{0}e\u{301}"))
          let entry = OutboxEntry(
            id: copy.id, edit: edit, base: base, sent: sent, state: states[place % states.count],
            attempts: place * 1000, author: place.isMultiple(of: 2) ? .app : .rebuild(rebuilt),
            leaves: place == 1 ? [] : [StoreBench.team("t"), StoreBench.game("e\u{301}")])
          var given = entry
          if case .copy = base { given.base = .copy(withFields) }
          try await bench.queue(given)
          let found = try await bench.read { [given] snapshot throws(SyncError) in
            try snapshot.outbox(for: [given.id])
          }
          try expect(found, equals: [entry], "An outbox entry comes back as it was, its base without fields.")
          try expect(try await bench.outbox(), equals: [entry], "It does so among those of its type.")
        }
      }
    }
  }

  static func outboxEntryReplacesItsRecords(_ bench: StoreBench) async throws {
    let (g, h) = (StoreBench.game("g"), StoreBench.game("h"))
    let copy = try StoreBench.copy("games", "g")
    let first = StoreBench.pending(g, at: StoreBench.stamp(1), base: .copy(copy))
    let other = StoreBench.pending(h, at: StoreBench.stamp(2))
    try await bench.queue(first, other)
    let second = StoreBench.pending(g, at: StoreBench.stamp(3))
    try await bench.queue(second)
    try expect(try await bench.outbox(), equals: [other, second], "An entry replaces the one of its record.")
    try expect(try await bench.outboxCount(), equals: 2, "A replaced entry is not counted.")
    try expect(
      try await bench.keys(Query("games")), equals: [], "An entry in the outbox shows no record by itself.")
    try expect(try await bench.state(g) == nil, "It is not a state from the remote either.")
  }

  static func outboxEntriesAreFoundByRecord(_ bench: StoreBench) async throws {
    let entries = [
      StoreBench.pending(StoreBench.game("\u{e9}"), at: StoreBench.stamp(1)),
      StoreBench.pending(StoreBench.team("e\u{301}"), at: StoreBench.stamp(2)),
    ]
    try await bench.write { transaction throws(SyncError) in try transaction.queue(entries) }
    let ids = entries.map(\.id) + [StoreBench.game("e\u{301}"), StoreBench.team("never")]
    let (found, none) = try await bench.read { snapshot throws(SyncError) in
      (try snapshot.outbox(for: ids), try snapshot.outbox(for: []))
    }
    try expect(
      Set(found), equals: Set(entries), "The existing entries of the given records come.")
    try expect(found.count, equals: 2, "Each entry comes once.")
    try expect(none, equals: [], "No records have no entries.")
  }

  static func outboxComesByStampInPortions(_ bench: StoreBench) async throws {
    let stamps = [
      StoreBench.stamp(-9, 7), StoreBench.stamp(5, 0, by: ""), StoreBench.stamp(5, 0, by: "B"),
      StoreBench.stamp(5, 0, by: "a"), StoreBench.stamp(5, 0, by: "e\u{301}"),
      StoreBench.stamp(5, 0, by: "\u{e9}"), StoreBench.stamp(5, 2), StoreBench.stamp(5, .max),
      StoreBench.stamp(6),
    ]
    // An order unlike that of keys and that of queueing.
    var entries: [OutboxEntry] = []
    for (place, stamp) in stamps.enumerated() {
      entries.append(StoreBench.pending(StoreBench.game("g\(9 - place)"), at: stamp))
    }
    for entry in entries.reversed() { try await bench.queue(entry) }
    try await bench.queue(StoreBench.pending(StoreBench.team("t"), at: StoreBench.stamp(5, 1)))
    try expect(
      try await bench.outbox().map(\.edit.stamp), equals: stamps,
      "A type's entries come in the order of their edits' stamps.")
    for (place, stamp) in stamps.enumerated() {
      try expect(
        try await bench.outbox(after: stamp, limit: 2), equals: Array(entries[(place + 1)...].prefix(2)),
        "A portion begins after the stamp given and holds no more than its limit.")
    }
    try expect(
      try await bench.outbox(after: StoreBench.stamp(5, 1), limit: 1), equals: [entries[6]],
      "A portion may begin after a stamp that is not there.")
    try expect(try await bench.outbox(limit: 0), equals: [], "A portion of none is empty.")
  }

  static func outboxEntriesAreFoundByWhatTheyLeave(_ bench: StoreBench) async throws {
    let (s, t) = (StoreBench.team("s"), StoreBench.team("t"))
    func pending(
      _ key: String, leaves: [RecordID], sent: Bool = false, at time: Int? = nil
    ) -> OutboxEntry {
      var entry = StoreBench.pending(
        StoreBench.game(key), at: StoreBench.stamp(Int64(time ?? key.utf8.count)))
      entry.leaves = leaves
      if sent { entry.sent = entry.edit }
      return entry
    }
    func found(_ ids: [RecordID], limit: Int = 9) async throws -> [[Bytes]] {
      try await bench.read { snapshot throws(SyncError) in
        try snapshot.outbox(leaving: ids, limit: limit).map { $0.map { Bytes($0.id.key) } }
      }
    }
    try await bench.queue(
      pending("ccc", leaves: [t]), pending("a", leaves: [s, t]), pending("bb", leaves: []))
    try expect(
      try await found([t, StoreBench.team("u"), s]), equals: [["a", "ccc"], [], ["a"]],
      "The entries that leave each of the records come at its place, by id.")
    try expect(try await found([t], limit: 1), equals: [["a"]], "No more come than the limit.")
    try await bench.queue(pending("a", leaves: [s], sent: true), pending("bb", leaves: [t]))
    try expect(
      try await found([s, t]), equals: [["a"], ["bb", "ccc"]],
      "A later entry replaces the records that it leaves.")
    try await bench.write { transaction throws(SyncError) in
      try transaction.dequeue([StoreBench.game("ccc"), StoreBench.game("a")])
    }
    try expect(try await found([s, t]), equals: [[], ["bb"]], "An entry taken out leaves nothing.")
    let keys = ["e\u{301}", "f", "\u{e9}", "～", "😀"]
    try await bench.queue(pending("\u{e9}", leaves: [StoreBench.team("\u{e9}")], at: 10))
    for (place, key) in keys.enumerated() {
      try await bench.queue(pending(key, leaves: [StoreBench.team("e\u{301}")], at: 20 - place))
    }
    try expect(
      try await found([StoreBench.team("\u{e9}"), StoreBench.team("e\u{301}")]),
      equals: [[], keys.map { Bytes($0) }],
      "Entries come by the bytes of their keys, for the record with the very bytes.")
  }

  static func outboxIsCountedByType(_ bench: StoreBench) async throws {
    try expect(try await bench.outboxCount(), equals: 0, "A type without entries has none.")
    let entries = (1...3).map {
      StoreBench.pending(StoreBench.game("g\($0)"), at: StoreBench.stamp(Int64($0)))
    }
    try await bench.write { transaction throws(SyncError) in
      try transaction.queue(entries)
      try transaction.queue([StoreBench.pending(StoreBench.team("g1"), at: StoreBench.stamp(4))])
    }
    try expect(try await bench.outboxCount(), equals: 3, "Entries are counted by type.")
    try await bench.write { transaction throws(SyncError) in
      try transaction.dequeue([entries[0].id, StoreBench.game("never"), entries[2].id])
      try transaction.dequeue([])
    }
    try expect(try await bench.outbox(), equals: [entries[1]], "Entries taken out are gone, the others stay.")
    try expect(try await bench.outboxCount(), equals: 1, "Entries taken out are not counted.")
    try expect(try await bench.outboxCount("teams"), equals: 1, "Those of other types are not touched.")
    try expect(try await bench.outboxCount("venues"), equals: 0, "A type without entries has none.")
  }
}
