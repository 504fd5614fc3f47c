import SyncModels
import SyncPorts

/// Lookups of records by natural key.
enum NaturalKeyChecks {
  private static let meters = Entity(
    "meters", naturalKey: NaturalKey("mac", normalizedBy: .alphanumeric), indexes: ["site"])
  private static let places = Entity(
    "places", references: [.to("venues", by: "venue", ordered: false)],
    naturalKey: NaturalKey("name", "venue", normalizedBy: .caseInsensitive))

  private static func copy(_ entity: Entity, _ key: String, _ json: String) throws -> Record {
    let payload = Payload(Array(json.utf8))
    return Record(
      id: RecordID(type: entity.type, key: key), version: Version(modifiedAt: Timestamp(milliseconds: 1)),
      payload: payload, fields: try entity.fields(of: payload))
  }

  private static func find(
    _ bench: StoreBench, _ type: RecordType, _ keys: [String?]
  ) async throws -> [[Bytes]] {
    let keys = keys.compactMap(\.self)
    let (found, copies) = try await bench.read { snapshot throws(SyncError) in
      let found = try snapshot.records(ofType: type, withNaturalKeys: keys)
      return (found, try snapshot.records(withIDs: found.joined().map(\.id)))
    }
    try expect(
      Array(found.joined()), equals: copies.compactMap(\.self),
      "A lookup by natural key returns the same copy as a lookup by id.")
    return found.map { $0.map { Bytes($0.id.key) } }
  }

  private struct Group: Hashable {
    var key: Bytes
    var count: Int
    var records: [Bytes]
  }

  private static func duplicates(
    _ bench: StoreBench, _ type: RecordType, after key: String? = nil, limit: Int = 1000
  ) async throws -> [Group] {
    try await bench.read { snapshot throws(SyncError) in
      let groups = try snapshot.duplicates(type, after: key, limit: limit)
      let found = try snapshot.records(ofType: type, withNaturalKeys: groups.map(\.key))
      return zip(groups, found).map { group, records in
        Group(key: Bytes(group.key), count: group.count, records: records.map { Bytes($0.id.key) })
      }
    }
  }

  static func recordsAreFoundByNaturalKey(_ bench: StoreBench) async throws {
    let a = try StoreBench.copy("games", "a", #"{"code":"x","v":1}"#)
    let number = try StoreBench.copy("games", "n", #"{"code":5}"#)
    try await bench.put(
      StoreBench.copy("games", "e\u{301}", #"{"code":"x"}"#),
      StoreBench.copy("games", "\u{e9}", #"{"code":"x"}"#),
      a, number, StoreBench.copy("games", "s", #"{"code":"5"}"#),
      StoreBench.copy("games", "f", #"{"code":5.0}"#), StoreBench.copy("games", "gone", #"{"code":"x"}"#))
    try await bench.delete(StoreBench.tombstone("games", "gone"))
    let (x, five) = (StoreBench.games.naturalKey(of: a), StoreBench.games.naturalKey(of: number))
    try expect(
      try await find(bench, "games", [five, "none", x, "", x]),
      equals: [["f", "n"], [], ["a", "e\u{301}", "\u{e9}"], [], ["a", "e\u{301}", "\u{e9}"]],
      "The live records with each key come at the key's place, by key.")
    try expect(try await find(bench, "games", []), equals: [], "No keys find nothing.")
    try expect(try await find(bench, "venues", [x]), equals: [[]], "A type without natural key has none.")
    let changed = try StoreBench.copy("games", "a", #"{"code":"y"}"#, version: 2)
    try await bench.put(changed, StoreBench.copy("games", "gone", #"{"code":"x"}"#, version: 12))
    var touched = changed
    touched.version.sequence = 3
    try await bench.write { [touched] transaction throws(SyncError) in
      try transaction.updateVersions([touched])
    }
    try expect(
      try await find(bench, "games", [x, StoreBench.games.naturalKey(of: changed)]),
      equals: [["e\u{301}", "gone", "\u{e9}"], ["a"]], "A changed record is found by what its key is now.")
  }

  static func naturalKeysAreNormalized(_ bench: StoreBench) async throws {
    try await bench.store.register(try SyncSchema(meters, places, StoreBench.venues))
    let spelled = try copy(meters, "a", #"{"mac":"AA:BB-0c","site":1}"#)
    try await bench.put(
      spelled, copy(meters, "b", #"{"mac":"aabb0C"}"#), copy(meters, "c", #"{"mac":"AABB0D"}"#),
      copy(places, "p", #"{"name":"Ü-Hall A","venue":"V"}"#),
      copy(places, "q", #"{"venue":"v","name":"Ü-hall a"}"#),
      copy(places, "r", #"{"venue":7,"name":"x"}"#), copy(places, "s", #"{"venue":"7","name":"X"}"#))
    try expect(
      try await find(bench, "meters", [meters.naturalKey(of: spelled)]), equals: [["a", "b"]],
      "Spellings of one key find the same records.")
    try expect(
      Set(try await duplicates(bench, "places").map(\.records)), equals: [["r", "s"], ["p", "q"]],
      "A key of several fields is normalized field by field, a reference by the key it names.")
  }

  static func nullsHaveNoNaturalKey(_ bench: StoreBench) async throws {
    try await bench.store.register(try SyncSchema(meters, places, StoreBench.venues))
    for (place, json) in ["{}", #"{"code":null}"#, #"{"code":""}"#, #"{"code":[1]}"#, #"{"code":{}}"#]
      .enumerated()
    {
      try await bench.put(
        StoreBench.copy("games", "a\(place)", json), StoreBench.copy("games", "b\(place)", json))
    }
    for (place, json) in [#"{"name":"n"}"#, #"{"name":"n","venue":null}"#, #"{"venue":"v"}"#].enumerated() {
      try await bench.put(copy(places, "a\(place)", json), copy(places, "b\(place)", json))
    }
    try await bench.put(copy(meters, "a", #"{"mac":":-"}"#), copy(meters, "b", #"{"mac":"::"}"#))
    for type in ["games", "places", "meters"] as [RecordType] {
      try expect(
        try await duplicates(bench, type), equals: [],
        "Records whose natural key is null, missing or empty, in part or as a whole, match nothing.")
    }
    try expect(try await find(bench, "games", [""]), equals: [[]], "An empty key finds nothing.")
  }

  static func duplicatesComeInByteOrderAndPortions(_ bench: StoreBench) async throws {
    let codes = ["B", "a", "e\u{301}", "\u{e9}", "～", "😀"]
    var copies: [Record] = []
    for (place, code) in codes.reversed().enumerated() {
      for key in ["\(place)z", "\(place)e\u{301}", "\(place)\u{e9}"].prefix(2 + place % 2) {
        copies.append(try StoreBench.copy("games", key, "{\"code\":\"\(code)\"}"))
      }
      copies.append(try StoreBench.copy("games", "single\(place)", "{\"code\":\"\(code)1\"}"))
      copies.append(try StoreBench.copy("games", "gone\(place)", "{\"code\":\"\(code)1\"}"))
      copies.append(try StoreBench.copy("games", "null\(place)", #"{"code":null}"#))
    }
    try await bench.put(copies)
    for place in codes.indices { try await bench.delete(StoreBench.tombstone("games", "gone\(place)")) }
    var wanted: [Group] = []
    for code in codes {
      let key =
        StoreBench.games.naturalKey(of: try StoreBench.copy("games", "k", "{\"code\":\"\(code)\"}")) ?? ""
      let same = copies.filter { StoreBench.games.naturalKey(of: $0).map { Bytes($0) } == Bytes(key) }
      wanted.append(
        Group(key: Bytes(key), count: same.count, records: same.map(\.id).sorted().map { Bytes($0.key) }))
    }
    try expect(
      try await duplicates(bench, "games"), equals: wanted,
      "Keys that two or more live records have come in the order of their bytes, with their number.")
    for (place, group) in wanted.enumerated() {
      try expect(
        try await duplicates(bench, "games", after: group.key.description, limit: 2),
        equals: Array(wanted[(place + 1)...].prefix(2)),
        "A portion begins after the key given and holds no more groups than its limit.")
    }
    try expect(
      try await duplicates(bench, "games", after: wanted[0].key.description + "1", limit: 1),
      equals: [wanted[1]], "A portion may begin after a key that is not a duplicate.")
    try expect(try await duplicates(bench, "games", limit: 0), equals: [], "A portion of none is empty.")
    try expect(try await duplicates(bench, "venues"), equals: [], "A type without natural key has none.")
  }

  /// Two records for each of some codes, the greatest first.
  private static func pairs(_ codes: ClosedRange<Int>, version: Int64) throws -> [Record] {
    try codes.flatMap { code in
      try [code, -code].map {
        try StoreBench.copy("games", "\($0)", "{\"code\":\"\(9 - code)\"}", version: version)
      }
    }
  }

  private static func places(_ bench: StoreBench, portion: Int) async throws -> [Bytes: Int64] {
    try await bench.read { snapshot throws(SyncError) in
      var places: [Bytes: Int64] = [:]
      var groups = try snapshot.duplicates("games", after: nil, limit: portion)
      while let last = groups.last {
        for group in groups { places[Bytes(group.key)] = group.place }
        groups = try snapshot.duplicates("games", after: last.key, limit: portion)
      }
      return places
    }
  }

  static func duplicatesKeepTheirPlaces(_ bench: StoreBench) async throws {
    try await bench.put(pairs(1...5, version: 1))
    let first = try await places(bench, portion: 10)
    try expect(Set(first.values).count, equals: 5, "No two groups have one place.")
    try expect(
      try await places(bench, portion: 2), equals: first, "A group has its place in every portion.")
    try await bench.put(pairs(3...8, version: 2))
    try await bench.delete(StoreBench.tombstone("games", "-1", version: 3))
    let second = try await places(bench, portion: 3)
    try expect(second.count, equals: 7, "Groups come and go.")
    try expect(Set(second.values).count, equals: 7, "Later groups have distinct places too.")
    for (key, place) in first {
      try expect(
        second[key] ?? place, equals: place, "A group keeps its place as long as its records stay.")
    }
  }

  static func groupsAreReadAsTheyAre(_ bench: StoreBench) async throws {
    try await bench.put(pairs(1...6, version: 1))
    try await bench.put(StoreBench.copy("games", "a", #"{"code":"3"}"#))
    let groups = try await bench.read { snapshot throws(SyncError) in
      try snapshot.duplicates("games", after: nil, limit: 10)
    }
    try expect(
      groups.map { "\($0.count) \(Set($0.places).count) \($0.place == $0.places.min())" },
      equals: groups.map { $0.key == groups[0].key ? "3 3 true" : "2 2 true" },
      "A group has a place for each of its records, the first of which is its own.")
    // Earlier writes of the transaction count as stored, and another record takes a code over.
    let moved = try StoreBench.copy("games", "-5", #"{"code":"7"}"#, version: 2)
    let (early, late) = try await bench.write { transaction throws(SyncError) in
      let all = try transaction.records(ofType: "games", in: groups)
      try transaction.put([moved])
      try transaction.delete([StoreBench.tombstone("games", "4", version: 2)])
      let pending = RecordID(type: "games", key: "-3")
      try transaction.apply {
        $0.deleted = [StoreBench.tombstone("games", pending.key, version: 1)]
        $0.queued = [StoreBench.pendingDeletion(pending, at: StoreBench.stamp(1))]
      }
      return (all, try transaction.records(ofType: "games", in: groups.reversed()))
    }
    try expect(
      early.map { $0.map { Bytes($0.id.key) } },
      equals: [["-6", "6", "a"], ["-5", "5"], ["-4", "4"], ["-3", "3"], ["-2", "2"], ["-1", "1"]],
      "All records of a group are at its place, in the order of their keys.")
    var found = late.map { $0.map { Bytes($0.id.key) } }
    // A store may include the record that moved to the second group, or not.
    found[1].removeAll { $0 == "-5" }
    try expect(
      found, equals: [["-1", "1"], ["-2", "2"], ["3"], ["-4"], ["5"], ["-6", "6", "a"]],
      "Deleted records, and records with a new natural key, leave their group.")
    let twice = try await bench.read { snapshot throws(SyncError) in
      (
        try snapshot.records(ofType: "games", in: [groups[0], groups[0]]),
        try snapshot.records(ofType: "games", in: [])
      )
    }
    try expect(twice.0.map(\.count), equals: [3, 3], "A group that is asked for twice is found twice.")
    try expect(twice.1.count, equals: 0, "No groups have no records.")
  }

  static func pendingDeletionsMatchNothing(_ bench: StoreBench) async throws {
    try await bench.put(pairs(1...4, version: 1))
    let keys = try await duplicates(bench, "games").map(\.key.description)
    // Both records of the first key, one of the second, and of the third one that is not found
    // first.
    let deleted = ["-4", "4", "-3", "2"].map { StoreBench.tombstone("games", $0, version: 1) }
    try await bench.write { transaction throws(SyncError) in
      _ = try transaction.records(ofType: "games", withNaturalKeys: Array(keys.prefix(2)))
      try transaction.apply {
        $0.deleted = deleted
        $0.queued = deleted.enumerated().map {
          StoreBench.pendingDeletion($0.element.id, at: StoreBench.stamp(Int64($0.offset)))
        }
      }
    }
    for tombstone in deleted {
      try expect(
        try await bench.state(tombstone.id)?.isDeleted, equals: true,
        "A record whose deletion is pending is deleted.")
    }
    try expect(
      try await find(bench, "games", keys), equals: [[], ["3"], ["-2"], ["-1", "1"]],
      "A record whose deletion is pending is not found by its natural key.")
    for limit in [1, 2, 9] {
      try expect(
        try await duplicates(bench, "games", limit: limit).map(\.count), equals: [2],
        "It is not a duplicate, and a portion skips any number of such groups.")
    }
    try expect(
      try await duplicates(bench, "games", after: keys[3]), equals: [],
      "It is not a duplicate after the last group either.")

    // The remote resolves the deletions: two records return, one of them with another key, and the
    // others stay deleted.
    try await bench.put(
      StoreBench.copy("games", "-3", #"{"code":"6"}"#, version: 2),
      StoreBench.copy("games", "4", #"{"code":"8"}"#, version: 2))
    try await bench.delete(
      StoreBench.tombstone("games", "-4", version: 2), StoreBench.tombstone("games", "2", version: 2))
    try await bench.write { transaction throws(SyncError) in try transaction.dequeue(deleted.map(\.id)) }
    try expect(
      try await find(bench, "games", keys), equals: [[], ["-3", "3"], ["-2"], ["-1", "1", "4"]],
      "A restored record is found by its current natural key.")
    try expect(
      try await duplicates(bench, "games").map(\.count), equals: [2, 3],
      "Duplicates are found again once no deletion is pending.")
  }

  static func changedNaturalKeyHoldsForAllRecords(_ bench: StoreBench) async throws {
    let plain = Entity("meters")
    try await bench.store.register(try SyncSchema(plain))
    try await bench.put(
      copy(plain, "a", #"{"mac":"AA:BB","site":"s"}"#), copy(plain, "b", #"{"mac":"aabb","site":"S"}"#),
      copy(plain, "c", #"{"mac":"AABB","site":"s"}"#), copy(plain, "gone", #"{"mac":"AABB","site":"s"}"#))
    try await bench.delete(StoreBench.tombstone("meters", "gone"))
    let declarations: [(NaturalKey, [[Bytes]])] = [
      (NaturalKey("mac"), []),
      (NaturalKey("mac", normalizedBy: .caseInsensitive), [["b", "c"]]),
      (NaturalKey("mac", normalizedBy: .alphanumeric), [["a", "b", "c"]]),
      (NaturalKey("mac", "site", normalizedBy: .alphanumeric), [["a", "b", "c"]]),
      (NaturalKey("site"), [["a", "c"]]),
      (NaturalKey("mac", normalizedBy: .caseInsensitive), [["b", "c"]]),
    ]
    for (naturalKey, wanted) in declarations {
      let entity = Entity("meters", naturalKey: naturalKey)
      try await bench.store.register(try SyncSchema(entity))
      // The record was stored under the previous declaration.
      try await bench.delete(StoreBench.tombstone("meters", "gone"))
      try expect(
        try await duplicates(bench, "meters").map(\.records), equals: wanted,
        "A changed declaration holds for the records that were there before, and for deleted ones.")
      try await bench.put(copy(entity, "gone", #"{"mac":"AABB","site":"s"}"#))
    }
  }
}
