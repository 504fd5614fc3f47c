import SyncJSON
import Testing

@Suite("A payload")
struct JSONRoundTripTests {
  struct Numbers: Codable, Hashable, Sendable {
    var i8: Int8, i16: Int16, i32: Int32, i64: Int64, i: Int, i128: Int128
    var u8: UInt8, u16: UInt16, u32: UInt32, u64: UInt64, u: UInt, u128: UInt128
    var float: Float, double: Double

    static let least = Numbers(
      i8: .min, i16: .min, i32: .min, i64: .min, i: .min, i128: .min, u8: .min, u16: .min, u32: .min,
      u64: .min, u: .min, u128: .min, float: .leastNonzeroMagnitude, double: -.greatestFiniteMagnitude)
    static let greatest = Numbers(
      i8: .max, i16: .max, i32: .max, i64: .max, i: .max, i128: .max, u8: .max, u16: .max, u32: .max,
      u64: .max, u: .max, u128: .max, float: .greatestFiniteMagnitude, double: .leastNonzeroMagnitude)
  }

  indirect enum Shape: Codable, Hashable, Sendable {
    case point
    case circle(radius: Double)
    case moved(Shape, by: [Int])
    case named(String, Shape?)
  }

  struct Optionals: Codable, Hashable, Sendable {
    var bool: Bool?, string: String?, int: Int?, int64: Int64?, u8: UInt8?, float: Float?, double: Double?
    var list: [String?]?, inner: [Optionals]?
  }

  enum Status: String, Codable { case final, awarded = "awarded \"late\"" }

  @Test(arguments: [Numbers.least, .greatest])
  func keepsTheEndsOfEveryNumberType(_ numbers: Numbers) throws { try expectRoundTrip(numbers) }

  @Test(arguments: [
    Shape.point, .circle(radius: -0.5), .moved(.moved(.point, by: []), by: [-1, 0, .max]), .named("", nil),
    .named("\u{0}\"\\é😀\u{2028}", .circle(radius: 1e300)),
  ])
  func keepsNestedEnums(_ shape: Shape) throws { try expectRoundTrip(shape) }

  @Test(arguments: [
    Optionals(),
    Optionals(bool: false, string: "", int: 0, int64: 0, u8: 0, float: 0, double: 0, list: [], inner: []),
    Optionals(list: [nil, "a", nil], inner: [Optionals(), Optionals(inner: [Optionals(bool: true)])]),
  ])
  func keepsWhatIsNilAndWhatIsEmpty(_ optionals: Optionals) throws { try expectRoundTrip(optionals) }

  @Test(arguments: [
    0, -0.0, 1, 5, 0.1, 1.0 / 3, 1e15, 1e16, 9_007_199_254_740_992, 1e21, 1e22, 1e23, .leastNonzeroMagnitude,
    .pi, -2.5e-10,
    .greatestFiniteMagnitude, .leastNormalMagnitude, 0.1 + 0.2, 4.35, 100, 1234.5,
  ])
  func keepsDoublesToTheBit(_ double: Double) throws {
    for number in [double, double.nextUp, double.nextDown] where number.isFinite {
      let bytes = try JSONByteEncoder().encode(number)
      #expect(try JSONByteDecoder().decode(Double.self, from: bytes[...]).bitPattern == number.bitPattern)
      #expect(JSONOracle.accepts(bytes))
    }
  }

  @Test func keepsScalarsAndCollectionsAtTheTop() throws {
    try expectRoundTrip(true)
    try expectRoundTrip("text")
    try expectRoundTrip(Int?.none)
    try expectRoundTrip([[1, 2], [], [3]])
    try expectRoundTrip([[0.5], []])
    try expectRoundTrip([Int128.min, .max])
    try expectRoundTrip(UInt128.max)
    try expectRoundTrip([["a"], ["\n"]])
    try expectRoundTrip(["a": [Status.final], "é": [.awarded, .final]])
    try expectRoundTrip([1: "one", -1: "minus one"])
    try expectRoundTrip(Set(["x", "y"]))
    try expectRoundTrip([Status.awarded, nil])
  }

  @Test func keepsManyMembers() throws {
    try expectRoundTrip(Dictionary(uniqueKeysWithValues: (0..<1000).map { ("key \($0)", $0) }))
  }

  @Test func keepsDeepNesting() throws {
    var shape = Shape.point
    for _ in 0..<15 { shape = .named("deeper", shape) }
    try expectRoundTrip(shape)
    for _ in 0..<30 { shape = .named("deeper", shape) }
    let bytes = try JSONByteEncoder().encode(shape)
    #expect(throws: DecodingError.self) { try JSONByteDecoder().decode(Shape.self, from: bytes[...]) }
    #expect(try JSONByteDecoder(depthLimit: 1000).decode(Shape.self, from: bytes[...]) == shape)
  }

  private func expectRoundTrip<Value: Codable & Equatable>(_ value: Value) throws {
    let bytes = try JSONByteEncoder().encode(value)
    #expect(JSONOracle.accepts(bytes))
    #expect(try JSONByteDecoder().decode(Value.self, from: bytes[...]) == value)
  }
}
