import SyncModels
import SyncPorts

/// Writes, deletions and lookups of records.
enum RowChecks {
  static func putMakesACopyTheLiveOne(_ bench: StoreBench) async throws {
    let first = try StoreBench.copy("games", "g", #"{"v":1,"home":"t"}"#, version: 5, tag: "five", schema: 2)
    try await bench.put(first)
    try expect(try await bench.record(first.id), equals: first, "A written copy is live and complete.")
    let older = try StoreBench.copy("games", "g", #"{"v":2}"#, version: 3)
    try await bench.put(older)
    try expect(
      try await bench.record(first.id), equals: older, "A copy replaces any stored copy.")
    try expect(try await bench.keys(Query("games")), equals: ["g"], "A replaced copy is gone.")
    try expect(
      try await bench.keys(Query("games", where: .equal("v", 1))), equals: [],
      "A replaced copy's fields are not found.")
    try await bench.delete(StoreBench.tombstone("games", "g"))
    try await bench.put(first)
    try expect(try await bench.record(first.id), equals: first, "A put brings a deleted record back.")
    try expect(
      try await bench.state(first.id)?.isDeleted, equals: false, "A record brought back is not deleted.")
  }

  static func newVersionsKeepPayloads(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy("games", "g", #"{"v":1}"#, version: 1, tag: "one")
    try await bench.put(copy)
    var touched = copy
    touched.version = Version(sequence: 7, modifiedAt: Timestamp(milliseconds: 7))
    touched.entityTag = "seven"
    let touch = touched
    try await bench.write { transaction throws(SyncError) in try transaction.updateVersions([touch]) }
    try expect(
      try await bench.record(copy.id), equals: touched, "A touch writes the version and the entity tag.")
    try expect(
      try await bench.state(copy.id)?.version, equals: touched.version, "A touch writes the version.")
    try expect(
      try await bench.keys(Query("games", where: .equal("v", 1))), equals: ["g"],
      "A touch leaves the fields as they were.")
  }

  static func deletedRecordKeepsItsVersion(_ bench: StoreBench) async throws {
    try await bench.put(StoreBench.copy("games", "g", version: 4), StoreBench.copy("games", "h"))
    try await bench.delete(StoreBench.tombstone("games", "g", version: 6))
    try expect(try await bench.keys(Query("games")), equals: ["h"], "A deleted record is not live.")
    try expect(try await bench.record(StoreBench.game("g")) == nil, "A deleted record is not given by id.")
    let state = try await bench.state(StoreBench.game("g"))
    try expect(state?.isDeleted, equals: true, "A deletion is remembered.")
    try expect(state?.version.sequence, equals: 6, "A deletion's version is remembered.")
  }

  static func versionsComeBackWhole(_ bench: StoreBench) async throws {
    let versions = [
      Version.unversioned, Version(epoch: 3, sequence: 2, modifiedAt: Timestamp(microseconds: -1)),
      Version(epoch: .max, sequence: .max, modifiedAt: Timestamp(microseconds: .max)),
    ]
    for version in versions {
      var copy = try StoreBench.copy("games", "g")
      copy.version = version
      try await bench.put(copy)
      try expect(try await bench.record(copy.id)?.version, equals: version, "A copy keeps its version.")
      try await bench.delete(Tombstone(id: copy.id, version: version))
      try expect(try await bench.state(copy.id)?.version, equals: version, "A deletion keeps its version.")
      let entry = StoreBench.entry(.record(copy.id), .parked, .upsert(copy))
      try await bench.withhold(entry)
      try expect(try await bench.entries(), equals: [entry], "An entry keeps its copy's version.")
    }
  }

  static func deletionOfUnknownRecordIsRemembered(_ bench: StoreBench) async throws {
    try await bench.delete(StoreBench.tombstone("games", "never", version: 6))
    let state = try await bench.state(StoreBench.game("never"))
    try expect(state?.isDeleted, equals: true, "A deletion of an unknown record is remembered.")
    try expect(
      state?.version.sequence, equals: 6,
      "The version of an unknown record's deletion is remembered.")
    try expect(try await bench.keys(Query("games")), equals: [], "A deletion makes no record.")
  }

  static func statesTellWhatAMergeNeeds(_ bench: StoreBench) async throws {
    let live = try StoreBench.copy("games", "live", #"{"v":1}"#, version: 3)
    try await bench.put(live, StoreBench.copy("games", "gone"), StoreBench.copy("teams", "live", #"{"v":1}"#))
    try await bench.delete(StoreBench.tombstone("games", "gone", version: 8))
    let copies = [
      try StoreBench.copy("games", "unknown"), try StoreBench.copy("games", "live", #"{"v":1}"#, version: 99),
      try StoreBench.copy("games", "gone"),
    ]
    let other = try StoreBench.copy("games", "live", #"{"v": 1}"#, version: 3)
    let (states, others, tombstones) = try await bench.write { transaction throws(SyncError) in
      try transaction.mark([StoreBench.game("live")])
      return (
        try transaction.states(of: copies), try transaction.states(of: [other]),
        try transaction.states(of: ["gone", "unknown", "live"].map { StoreBench.tombstone("games", $0) })
      )
    }
    try expect(
      states.count == 3 && states[0] == nil, "There is one state for each copy, none for an unknown one.")
    try expect(
      states[1],
      equals: StoredState(version: live.version, isDeleted: false, hasSamePayload: true, isMarked: true),
      "The state is the stored one; the same bytes are the same payload, whatever the version.")
    try expect(states[2]?.isDeleted, equals: true, "The state of a deleted record says so.")
    try expect(states[2]?.hasSamePayload, equals: false, "A deleted record has no payload.")
    try expect(
      others.first??.hasSamePayload, equals: false, "Other bytes are another payload, if only by a space.")
    try expect(
      tombstones.map { $0?.version.sequence }, equals: [8, nil, 3], "There is one state for each tombstone.")
    try expect(
      tombstones.map { $0?.isDeleted }, equals: [true, nil, false],
      "The state shows whether a record is deleted.")
  }

  static func liveOnesAreTold(_ bench: StoreBench) async throws {
    try await bench.put(StoreBench.copy("games", "live"), StoreBench.copy("games", "gone"))
    try await bench.delete(StoreBench.tombstone("games", "gone"))
    let aside = StoreBench.game("aside")
    try await bench.withhold(StoreBench.entry(.record(aside)))
    let ids = ["live", "gone", "unknown"].map(StoreBench.game) + [StoreBench.team("live"), aside]
    let absent = try await bench.write { transaction throws(SyncError) in try transaction.absent(among: ids) }
    try expect(
      absent, equals: Array(ids[1...]), "A record is live if it is neither deleted nor only withheld.")
    try await bench.delete(StoreBench.tombstone("games", "live", version: 20))
    let again = try StoreBench.copy("games", "gone", version: 20)
    let (before, after) = try await bench.write { transaction throws(SyncError) in
      let before = try transaction.absent(among: [ids[0], ids[1]])
      try transaction.put([again])
      return (before, try transaction.absent(among: [ids[1], ids[0], ids[1]]))
    }
    try expect(before, equals: [ids[0], ids[1]], "A deleted record is not live.")
    try expect(after, equals: [ids[0]], "A written record is live at once.")
    let undone = try StoreBench.copy("games", "unknown")
    try await expect(.inconsistentData, "The write throws the body's error.") { () throws(SyncError) in
      try await bench.write { transaction throws(SyncError) in
        try transaction.put([undone])
        _ = try transaction.absent(among: [undone.id])
        throw SyncError(.inconsistentData, during: "checking")
      }
    }
    let later = try await bench.write { transaction throws(SyncError) in
      try transaction.absent(among: [undone.id])
    }
    try expect(later, equals: [undone.id], "An uncommitted record is not live.")
  }

  static func aBatchMayBePartOfTheOneLookedUp(_ bench: StoreBench) async throws {
    let before = try ["a", "b", "c", "d", "e", "f"].map { try StoreBench.copy("games", $0, #"{"n":1}"#) }
    try await bench.write { transaction throws(SyncError) in try transaction.put(before) }
    let copies = try ["a", "b", "bb", "c", "d", "e", "f", "ff"].map {
      try StoreBench.copy("games", $0, #"{"n":2}"#)
    }
    // Looked up together, written in parts and in another order.
    try await bench.write { transaction throws(SyncError) in
      _ = try transaction.states(of: copies)
      try transaction.put([copies[7], copies[4], copies[2]])
      try transaction.delete([StoreBench.tombstone("games", "b")])
      try transaction.mark([copies[5].id, copies[0].id])
    }
    let found = try await bench.read { snapshot throws(SyncError) in
      try snapshot.records(Query("games")).map { $0.id.key + ($0.payload == copies[0].payload ? "2" : "1") }
    }
    try expect(
      found, equals: ["a1", "bb2", "c1", "d2", "e1", "f1", "ff2"],
      "A write changes its own record, whatever lookups came before.")
    let unmarked = try await bench.read { snapshot throws(SyncError) in
      try snapshot.rows("games", .unmarked, after: nil, limit: 99).map(\.id.key)
    }
    try expect(unmarked, equals: ["bb", "c", "d", "f", "ff"], "A mark is set for its own id.")
  }

  static func referencesByOthersAreTold(_ bench: StoreBench) async throws {
    try await bench.put(
      StoreBench.copy("teams", "self", #"{"parent":"self"}"#), StoreBench.copy("teams", "top"),
      StoreBench.copy("teams", "sub", #"{"parent":"top"}"#),
      StoreBench.copy("games", "g", #"{"home":"h","away":"a","venue":"v"}"#),
      StoreBench.copy("games", "gone", #"{"home":"x"}"#), StoreBench.copy("games", "moved", #"{"home":"y"}"#),
      StoreBench.copy("games", "number", #"{"home":7}"#))
    try await bench.put(StoreBench.copy("games", "moved", #"{"home":"z"}"#))
    try await bench.delete(StoreBench.tombstone("games", "gone"))
    let waiting = try StoreBench.copy("games", "waiting", #"{"home":"w"}"#)
    try await bench.withhold(StoreBench.entry(.record(waiting.id), .parked, .upsert(waiting)))
    let ids =
      ["self", "top", "sub", "h", "a", "x", "y", "z", "w", "7"].map(StoreBench.team)
      + [RecordID(type: "venues", key: "v"), StoreBench.game("h")]
    let found = try await bench.write { transaction throws(SyncError) in
      try transaction.referenced(among: ids)
    }
    try expect(
      found.map(\.key).sorted(), equals: ["7", "a", "h", "top", "z"],
      "A record is referenced if another live record has an ordered reference to it; a whole number is a key."
    )
    try expect(found.allSatisfy { $0.type == "teams" }, "References lead to records of their own target.")
  }

  static func recordsKeepTheirPlaces(_ bench: StoreBench) async throws {
    try await bench.put(
      StoreBench.copy("games", "b"), StoreBench.copy("games", "a"), StoreBench.copy("teams", "c"))
    let ids = [StoreBench.team("c"), StoreBench.game("c"), StoreBench.game("b"), StoreBench.game("a")]
    let found = try await bench.read { snapshot throws(SyncError) in try snapshot.records(withIDs: ids) }
    try expect(
      found.map { $0?.id }, equals: [ids[0], nil, ids[2], ids[3]], "Each record has the index of its id."
    )
  }

  static func payloadsKeepTheirBytes(_ bench: StoreBench) async throws {
    let long = String(repeating: "x", count: 1 << 20)
    let payloads = [
      #"{ "b" : 1.50, "a":12345678901234567890123, "a":1e2 }"#, #"{"n":"\u0000\ud800","é":"e\u0301"}"#,
      "{\"s\":\"" + long + "\"}", "{}",
    ]
    for (index, json) in payloads.enumerated() {
      let copy = try StoreBench.copy("games", "g\(index)", json)
      try await bench.put(copy)
      let found = try await bench.record(copy.id)
      try expect(found?.payload == copy.payload, "A payload keeps its bytes (\(index)).")
    }
  }

  static func keysCompareByBytes(_ bench: StoreBench) async throws {
    let keys = [
      "\u{e9}", "e\u{301}", "a", "a\u{0}", "a\u{0}b", "A", "'; --", "\"", "\n", "%", "_", "1", "01", "😀", "～",
      String(repeating: "k", count: 10_000),
    ]
    try await bench.put(keys.map { key in try StoreBench.copy("games", key, "{}") })
    let sorted = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { Bytes($0) }
    try expect(
      try await bench.keys(Query("games")), equals: sorted, "Keys are distinct and sorted by their bytes.")
    for (place, key) in sorted.enumerated() {
      let rows = try await bench.read { snapshot throws(SyncError) in
        try snapshot.rows("games", .all, after: key.description, limit: 2).map { Bytes($0.id.key) }
      }
      try expect(
        rows, equals: Array(sorted[(place + 1)...].prefix(2)), "Rows come after a key by its bytes.")
    }
    for key in keys {
      let found = try await bench.record(StoreBench.game(key))
      try expect(found?.id.key.utf8.elementsEqual(key.utf8) == true, "A key finds its own record.")
    }
    try await bench.delete(StoreBench.tombstone("games", "e\u{301}"))
    try expect(
      try await bench.state(StoreBench.game("\u{e9}"))?.isDeleted, equals: false,
      "Deleting a record keeps a record with a similar key.")
  }

  static func wrongAnnouncementsChangeNothing(_ bench: StoreBench) async throws {
    let copies = try ["a", "b", "c", "d", "e"].map { try StoreBench.copy("games", $0, #"{"v":1}"#) }
    try await bench.put(Array(copies.prefix(3)))
    let other = try StoreBench.copy("games", "a", #"{"v":2}"#)
    let (first, second) = try await bench.write { transaction throws(SyncError) in
      // The questions come in another order, with other copies, one twice and one never.
      (transaction as? any PageGroupTransaction)?.readAhead([
        [.upsert(copies[0]), .upsert(copies[3])], [.upsert(copies[1])],
        [.tombstone(StoreBench.tombstone("games", "c"))],
      ])
      let first = try transaction.states(of: [copies[4], copies[1]])
      try transaction.put([copies[3]])
      try transaction.delete([StoreBench.tombstone("games", "b")])
      return (first, try transaction.states(of: [other, copies[3], copies[1], copies[4], copies[3]]))
    }
    try expect(
      first.map { $0?.hasSamePayload }, equals: [nil, true], "States are those of the records asked for.")
    try expect(
      second.map { $0?.hasSamePayload }, equals: [false, true, false, nil, true],
      "States are those of the transaction's own writes, whatever was announced.")
    try expect(
      second.map { $0?.isDeleted }, equals: [false, false, true, nil, false],
      "States show deletions, whatever was announced.")
  }

  static func batchesMayBeEmptyOrLarge(_ bench: StoreBench) async throws {
    let copies = try (0..<5000).map {
      try StoreBench.copy("games", "g\($0)", #"{"v":\#($0),"home":"t\#($0)"}"#)
    }
    let ids = copies.map(\.id)
    let teams = (0..<5000).map { StoreBench.team("t\($0)") }
    let numbers = try await bench.write { transaction throws(SyncError) in
      try transaction.put([])
      try transaction.updateVersions([])
      try transaction.delete([])
      try transaction.withhold([])
      try transaction.release([])
      try transaction.mark([])
      try transaction.put(copies)
      try transaction.updateVersions(copies)
      try transaction.mark(ids)
      return [
        try transaction.states(of: [Record]()).count,
        try transaction.states(of: copies).compactMap(\.self).count,
        ids.count - (try transaction.absent(among: ids).count),
        try transaction.referenced(among: teams).count,
        try transaction.records(withIDs: ids).compactMap(\.self).count,
        try transaction.counts("games", rows: true).rows?.unmarked ?? -1,
        try transaction.parked(waitingFor: ids, limit: 9).count,
        try transaction.withheld(for: ids.map { .record($0) }).count,
      ]
    }
    try expect(numbers, equals: [0, 5000, 5000, 5000, 5000, 0, 0, 0], "Batches may be of any size.")
    // Ids far apart, then close together, in order. Every other id is unknown.
    let sorted = copies.sorted { $0.id < $1.id }
    let some = stride(from: 0, to: 4000, by: 50).map { sorted[$0] } + sorted[4000..<4030]
    let mixed = try some.flatMap { [$0, try StoreBench.copy("games", $0.id.key + "-")] }
    let states = try await bench.write { transaction throws(SyncError) in try transaction.states(of: mixed) }
    try expect(
      states.map { $0 != nil }, equals: mixed.indices.map { $0.isMultiple(of: 2) },
      "Each state has the index of its copy, at any distance.")
  }
}
