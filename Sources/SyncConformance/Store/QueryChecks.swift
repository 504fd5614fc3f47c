import SyncJSON
import SyncModels
import SyncPorts

/// The records that queries select.
///
/// Every condition is tried on a declared field, `v`, and on a field that is only in the payloads,
/// `w`.
enum QueryChecks {
  /// JSON spellings of values, each in its own record; the first record lacks the field.
  private static let spellings = [
    nil, "null", "0", "-0.0", "1", "1.0", "10e-1", "2.5", "-5", "9007199254740992", "9007199254740993",
    "9007199254740992.0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1e300",
    "1e400",
    "true", "false", #""""#, #""1""#, #""a""#, #""A""#, #""z""#, #""\u00e9""#, #""e\u0301""#, #""～""#,
    #""😀""#,
    #""a\u0000b""#, #""true""#, #""null""#, "[1]", "[]", #"{"x":1}"#,
  ]

  private static let values: [FieldValue] = [
    .null, 0, 1, .double(1), 2.5, -5, .integer(9_007_199_254_740_992), .integer(9_007_199_254_740_993),
    .double(9_007_199_254_740_992), .integer(.max), .double(0x1p63), .integer(.min), .double(1e300),
    .double(.infinity), true, false, "", "1", "a", "z", "\u{e9}", "e\u{301}", "～", "😀", "a\u{0}b", .composite,
  ]

  private static func fill(_ bench: StoreBench) async throws -> [Record] {
    var copies: [Record] = []
    for (index, spelling) in spellings.enumerated() {
      let json = spelling.map { #"{"v":\#($0),"w":\#($0)}"# } ?? "{}"
      copies.append(try StoreBench.copy("games", "r\(index + 10)", json))
    }
    try await bench.put(copies)
    return copies
  }

  /// Checks that conditions select the records that their definition selects.
  private static func verify(_ bench: StoreBench, _ conditions: (FieldName) -> [Condition]) async throws {
    try await verify(bench, try await fill(bench), conditions)
  }

  private static func verify(
    _ bench: StoreBench, _ copies: [Record], _ conditions: (FieldName) -> [Condition]
  ) async throws {
    for field in ["v", "w"] as [FieldName] {
      for condition in conditions(field) {
        let names = Array(condition.fields)
        var wanted: [Bytes] = []
        for copy in copies {
          let lifted = try copy.payload.values(of: names)
          let isSelected = condition.isSatisfied { name in
            names.firstIndex(of: name).map { lifted[$0] } ?? .null
          }
          if isSelected { wanted.append(Bytes(copy.id.key)) }
        }
        let query = Query("games", where: condition)
        try expect(try await bench.keys(query), equals: wanted, "\(condition) selects by its meaning.")
        let count = try await bench.read { snapshot throws(SyncError) in try snapshot.count(query) }
        try expect(count, equals: wanted.count, "\(condition) counts what it selects.")
      }
    }
  }

  static func equalComparesExactlyWithinAType(_ bench: StoreBench) async throws {
    try await verify(bench) { field in values.map { .equal(field, $0) } }
    // The definition itself is checked in the cases in which stores are likely to differ from it.
    try expect(
      try await bench.keys(Query("games", where: .equal("v", 1))), equals: ["r14", "r15", "r16"],
      "All spellings of one are equal, and differ from true and \"1\".")
    try expect(
      try await bench.keys(Query("games", where: .equal("v", nil))), equals: ["r10", "r11"],
      "Null is null or missing.")
    try expect(
      try await bench.keys(Query("games", where: .equal("v", .integer(9_007_199_254_740_993)))),
      equals: ["r20"],
      "Integers past 2^53 are distinct.")
    try expect(
      try await bench.keys(Query("games", where: .equal("v", "\u{e9}"))), equals: ["r34"],
      "Strings are compared by their bytes.")
  }

  static func membershipIsEqualityWithAny(_ bench: StoreBench) async throws {
    try await verify(bench) { field in
      [
        .isIn(field, []), .isIn(field, [1, 1.0, "1"]), .isIn(field, [nil, true]), .isIn(field, values),
        .isIn(field, (0..<1500).map { .integer($0) }),
      ]
    }
  }

  static func rangesStayWithinAType(_ bench: StoreBench) async throws {
    try await verify(bench) { field in
      var conditions: [Condition] = [.within(field, lower: nil, upper: nil)]
      for value in values {
        conditions += [
          .less(field, value), .atMost(field, value), .greater(field, value), .atLeast(field, value),
        ]
      }
      conditions += [
        .range(field, from: 0, to: "z"), .range(field, from: 2, to: 1), .range(field, from: "A", to: "～"),
        .range(field, from: .integer(9_007_199_254_740_993), to: .double(1e300)),
        .range(field, from: false, to: true),
        .range(field, from: nil, to: 5),
      ]
      return conditions
    }
  }

  static func conditionsCombine(_ bench: StoreBench) async throws {
    try await verify(bench) { field in
      let one = Condition.equal(field, 1)
      let text = Condition.atLeast(field, "")
      return [
        .all([]), .any([]), .all([one]), .any([one, text]), .all([one, text]),
        .any([one, .all([text, .not(one)])]), .not(.all([])), .not(.any([])),
        .all([text, .any([.equal(field, "a"), .equal("nowhere", 1)])]),
      ]
    }
  }

  static func notHoldsWhereTheConditionDoesNot(_ bench: StoreBench) async throws {
    try await verify(bench) { field in
      values.flatMap { value in
        [
          .not(.equal(field, value)), .not(.less(field, value)), .not(.not(.equal(field, value))),
          .not(.isIn(field, [value, nil])),
        ]
      }
    }
    let all = try await bench.records(Query("games", where: .not(.equal("nowhere", 1)))).count
    try expect(all, equals: spellings.count, "A missing value equals nothing, so the negation holds.")
  }

  static func fieldNamesMayHoldAnything(_ bench: StoreBench) async throws {
    let names = ["a.b", "a\"b", "a'b", "$", "[0]", " ", "a\\b", "\u{e9}", "e\u{301}", "select", "%"]
    for (index, name) in names.enumerated() {
      let json = String(decoding: JSONString.quoted(name), as: UTF8.self)
      try await bench.put(StoreBench.copy("games", "g\(index)", #"{"a":{"b":1},\#(json):\#(index + 5)}"#))
    }
    for (index, name) in names.enumerated() {
      let found = try await bench.keys(
        Query("games", where: .equal(FieldName(name), .integer(Int64(index + 5)))))
      try expect(found, equals: [Bytes("g\(index)")], "A field is found whatever its name, as in \(name).")
    }
  }

  static func lastOfRepeatedMembersCounts(_ bench: StoreBench) async throws {
    try await bench.put(StoreBench.copy("games", "g", #"{"w":1,"v":1,"w":2,"v":2}"#))
    for field in ["v", "w"] as [FieldName] {
      try expect(
        try await bench.keys(Query("games", where: .equal(field, 2))), equals: ["g"], "The last copy counts.")
      try expect(
        try await bench.keys(Query("games", where: .equal(field, 1))), equals: [], "The last copy counts.")
    }
  }

  static func queriesSeeLiveRecordsOfTheirType(_ bench: StoreBench) async throws {
    try await bench.put(
      StoreBench.copy("games", "a", #"{"v":1}"#), StoreBench.copy("games", "b", #"{"v":1}"#),
      StoreBench.copy("teams", "c", #"{"v":1}"#))
    try await bench.delete(StoreBench.tombstone("games", "a"), StoreBench.tombstone("games", "d"))
    for query in [Query("games"), Query("games", where: .equal("v", 1)), Query("games", order: ["v"])] {
      try expect(try await bench.keys(query), equals: ["b"], "A query gives live records of its type.")
      let count = try await bench.read { snapshot throws(SyncError) in try snapshot.count(query) }
      try expect(count, equals: 1, "A count counts live records of its type.")
    }
  }

  static func orderIsTotal(_ bench: StoreBench) async throws {
    let copies = try await fill(bench)
    for field in ["v", "w"] as [FieldName] {
      for isDescending in [false, true] {
        try await verify(bench, copies, order: Query.SortField(field, descending: isDescending))
      }
    }
  }

  /// Checks that an order is by what it compares, and by key where that is equal.
  private static func verify(
    _ bench: StoreBench, _ copies: [Record], order: Query.SortField
  ) async throws {
    var decorated: [(key: String, value: FieldValue)] = []
    for copy in copies {
      decorated.append((copy.id.key, order.value(of: try copy.payload.values(of: [order.field])[0])))
    }
    let wanted = decorated.sorted { a, b in
      if a.value < b.value { return !order.isDescending }
      if b.value < a.value { return order.isDescending }
      return a.key < b.key
    }.map { Bytes($0.key) }
    try expect(
      try await bench.keys(Query("games", order: [order])), equals: wanted,
      "Records come by type of value, by value, and by key where values are equal, \(order).")
    try expect(
      try await bench.keys(Query("games", order: [order], limit: 7)), equals: Array(wanted.prefix(7)),
      "A limit gives the first ones of the order.")
  }

  static func laterSortFieldsBreakTies(_ bench: StoreBench) async throws {
    let rows = [("a", 1, 1), ("b", 2, 1), ("c", 1, 2), ("d", 2, 2), ("e", 1, 2)]
    for (key, v, w) in rows { try await bench.put(StoreBench.copy("games", key, #"{"v":\#(v),"w":\#(w)}"#)) }
    try expect(
      try await bench.keys(Query("games", order: ["v", .descending("w")])),
      equals: ["c", "e", "a", "d", "b"],
      "A later field sorts what the earlier ones leave equal, and the key what is left.")
  }

  /// Texts with several spellings, each in its own record, and what they are not.
  private static let texts = [
    "2026-04-01T20:00:00+02:00", "2026-04-01T18:00:00.000Z", "2026-04-01T18:00Z", "2026-04-02",
    "2026-03-31T23:30:00-10:00", "12.50", "12.5", "1.25e1", "9", "-10", "-9.5", "0.0",
    "100000000000000000001",
    "100000000000000000002", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "Café", "cafe\u{301} au lait", "CAFETERIA", "Straße", "strasse", "Ångström", "angstrom", "Việt Nam",
    "Жёлтый", "", "a\u{0}b",
  ]

  private static func fillTexts(_ bench: StoreBench) async throws -> [Record] {
    var copies: [Record] = []
    for (index, spelling)
      in (texts.map { String(decoding: JSONString.quoted($0), as: UTF8.self) } + ["5", "null"])
      .enumerated()
    {
      copies.append(
        try StoreBench.copy("games", "t\(index + 10)", #"{"v":\#(spelling),"w":\#(spelling)}"#))
    }
    try await bench.put(copies)
    return copies
  }

  static func textsCompareByTheirMeaning(_ bench: StoreBench) async throws {
    let copies = try await fillTexts(bench)
    try await verify(bench, copies) { field in
      var conditions: [Condition] = []
      for meaning in TextMeaning.allCases {
        for text in texts {
          let bound = Condition.Bound(.string(text), isIncluded: false)
          conditions += [
            .equal(field, .string(text), as: meaning), .meaning(field, meaning, lower: bound, upper: nil),
            .not(.meaning(field, meaning, lower: nil, upper: bound)),
          ]
        }
      }
      for text in ["", "cafe", "CAFÉ", "É a", "strass", "viet", "ый", "b"] {
        conditions += [.contains(field, text), .hasPrefix(field, text), .not(.contains(field, text))]
      }
      return conditions
    }
    for field in ["v", "w"] as [FieldName] {
      for meaning in TextMeaning.allCases {
        for isDescending in [false, true] {
          try await verify(
            bench, copies, order: Query.SortField(field, descending: isDescending, as: meaning))
        }
      }
    }
    // The definition itself.
    func keys(_ condition: Condition) async throws -> [Bytes] {
      try await bench.keys(Query("games", where: condition))
    }
    try expect(
      try await keys(.equal("v", "2026-04-01T18:00:00Z", as: .instant)), equals: ["t10", "t11", "t12"],
      "Spellings of one instant are equal.")
    try expect(
      try await keys(.equal("v", "12.5", as: .number)), equals: ["t15", "t16", "t17"],
      "Spellings of one number are equal.")
    try expect(
      try await keys(.range("v", from: "-10", to: "0", as: .number)), equals: ["t19", "t20", "t21"],
      "Numbers in texts are in their order.")
    try expect(
      try await keys(.equal("v", "100000000000000000001", as: .number)), equals: ["t22"],
      "Numbers in texts are exact.")
    try expect(
      try await keys(.equal("v", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", as: .uuid)), equals: ["t24", "t25"],
      "A UUID is one in either case.")
    try expect(
      try await keys(.hasPrefix("v", "CAFE")), equals: ["t26", "t27", "t28"],
      "Case and marks do not count in a search.")
    try expect(try await keys(.equal("v", "STRASSE", as: .folded)), equals: ["t29", "t30"], "ß is ss.")
    try expect(
      try await keys(.any([.contains("v", "angstrom"), .contains("v", "viet"), .contains("v", "желтый")])),
      equals: ["t31", "t32", "t33", "t34"], "Marks of several scripts do not count.")
  }

  static func limitsAndPortions(_ bench: StoreBench) async throws {
    let keys = ["A", "a", "b", "e\u{301}", "\u{e9}"]
    for key in keys { try await bench.put(StoreBench.copy("games", key, #"{"v":1}"#)) }
    for condition in [nil, Condition.equal("v", 1)] {
      try expect(
        try await bench.keys(Query("games", where: condition, limit: 0)), equals: [],
        "A limit of zero gives none.")
      try expect(
        try await bench.keys(Query("games", where: condition, limit: 9)), equals: keys.map { Bytes($0) },
        "A limit past the end gives all.")
      var portions: [Bytes] = []
      var after: String?
      while true {
        let portion = try await bench.records(Query("games", where: condition, afterKey: after, limit: 2))
        guard let last = portion.last else { break }
        try expect(
          portion.count <= 2 && portions.count < 9, "A portion holds no more than its limit, and goes on.")
        portions += portion.map { Bytes($0.id.key) }
        after = last.id.key
      }
      try expect(portions, equals: keys.map { Bytes($0) }, "Portions by key cover all records.")
      let query = Query("games", where: condition, limit: 2)
      let count = try await bench.read { snapshot throws(SyncError) in try snapshot.count(query) }
      try expect(count, equals: keys.count, "A count ignores the limit.")
    }
  }
}
