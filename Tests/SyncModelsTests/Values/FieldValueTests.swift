import SyncModels
import Testing

@Suite("Field values")
struct FieldValueTests {
  /// Awkward values, in order. The values of a group are equal.
  static let groups: [[FieldValue]] = [
    [.null], [.double(-.infinity)], [.integer(.min), .double(-0x1p63)], [.integer(.min + 1)],
    [.double(-0.5)], [.integer(0), .double(0), .double(-0.0)], [.double(0.5)], [.integer(5), .double(5)],
    [.integer(1 << 53), .double(0x1p53)], [.integer(1 << 53 + 1)], [.integer(.max)], [.double(0x1p63)],
    [.double(.infinity)], [.string("")], [.string("a")], [.string("e\u{301}")], [.string("\u{e9}")],
    [.string("\u{ff5e}")], [.string("\u{10000}")], [.boolean(false)], [.boolean(true)], [.composite],
  ]
  static let ranked = groups.enumerated().flatMap { rank, group in group.map { (rank, $0) } }

  @Test(arguments: ranked)
  func areOrderedWhollyAndAlike(_ rank: Int, _ value: FieldValue) {
    for (otherRank, other) in Self.ranked {
      #expect((value < other) == (rank < otherRank), "\(value) < \(other)")
      #expect((value == other) == (rank == otherRank), "\(value) == \(other)")
      if value == other { #expect(value.hashValue == other.hashValue) }
    }
  }

  @Test func notANumberEqualsNothing() {
    #expect(FieldValue.double(.nan) != .double(.nan))
    #expect(FieldValue.double(.nan) != .null)
  }
}

@Suite("Conditions")
struct ConditionTests {
  static let values: [FieldName: FieldValue] = ["n": 5, "s": "b", "b": true, "z": nil, "o": .composite]

  @Test(
    arguments: [
      .equal("n", 5.0), .equal("z", nil), .equal("missing", nil), .isIn("s", ["a", "b"]), .all([]),
      .less("n", 6), .atMost("n", 5), .atLeast("n", 5), .greater("s", "a"), .range("n", from: 5, to: 5),
      .not(.less("s", 6)), .not(.greater("s", 6)), .not(.any([])), .less("n", 5.5), .not(.equal("n", "5")),
      .all([.equal("n", 5), .equal("s", "b")]), .any([.equal("n", 6), .equal("s", "b")]),
      .within("n", lower: nil, upper: nil),
    ] as [Condition])
  func hold(_ condition: Condition) {
    #expect(condition.isSatisfied { Self.values[$0] ?? .null })
    #expect(!Condition.not(condition).isSatisfied { Self.values[$0] ?? .null })
  }

  @Test(
    arguments: [
      .less("n", 5), .greater("n", 5), .less("z", 1), .greater("z", nil), .atLeast("z", nil), .isIn("n", []),
      .less("b", 9), .atMost("o", .composite), .range("n", from: "a", to: "z"), .range("n", from: 6, to: 4),
      .equal("s", "B"), .any([.equal("n", 6), .equal("s", "c")]),
    ] as [Condition])
  func doNotHold(_ condition: Condition) {
    #expect(!condition.isSatisfied { Self.values[$0] ?? .null })
  }
}
