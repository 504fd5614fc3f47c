import SyncJSON
import Testing

/// Texts that are read one after another are what they are one by one, whatever was read before.
@Suite("Reading texts one after another")
struct JSONShapesTests {
  private struct Inner: Decodable, Equatable {
    var x: Int?
    var a: Int?
  }

  private struct Item: Decodable, Equatable {
    enum CodingKeys: String, CodingKey {
      case a, ab, b, c, d, x
      case long = "aNameOfManyLetters", other = "aNameOfNanyLetters", last = "aNameOfManyLetterz"
      case umlaut = "\u{fc}"
    }
    var a: Int?
    var ab: Int?
    var b: [Int]?
    var c: Inner?
    var d: [Inner]?
    var x: Int?
    var long: Int?
    var other: Int?
    var last: Int?
    var umlaut: Int?
  }

  @Test(arguments: [
    // A name comes twice.
    [#"{"a":1,"x":2}"#, #"{"a":1,"a":3,"x":2}"#, #"{"a":1,"x":2,"a":4}"#, #"{"a":1,"x":2}"#],
    [#"{"a":1,"a":2}"#, #"{"a":3}"#, #"{"a":4,"a":5,"x":6}"#],
    // A name has an escape.
    [#"{"a":1,"x":2}"#, #"{"\u0061":5,"x":2}"#, #"{"a":1,"\u0061":6}"#, #"{"\u0061":1,"a":7}"#],
    [#"{"\u00fc":1}"#, #"{"ü":2,"a":1}"#, #"{"u\#u{308}":3,"a":1}"#, #"{"ü":4,"a":1}"#],
    // Members are missing, null, or in another order.
    [
      #"{"a":1,"b":[],"x":2}"#, #"{"x":3,"b":[1],"a":4}"#, #"{"b":[2]}"#, #"{"a":null,"x":5}"#, "{}",
      #"{"a":6}"#,
    ],
    // Values of other lengths, in which the same names occur.
    [
      #"{"b":[1,2,3],"c":{"x":1,"a":2},"x":2}"#, #"{"b":[],"c":{"x":3},"x":4}"#,
      #"{"b":[],"c":{"x":5,"a":6}}"#, #"{"b":[7,8],"x":9,"c":{"a":1}}"#,
    ],
    [
      #"{"d":[{"x":1},{"x":2,"a":3}],"x":4}"#, #"{"d":[{"x":5,"a":6}],"x":7}"#, #"{"d":[],"x":8,"a":9}"#,
      #"{"d":[{"a":1,"x":2},{"x":3},{}]}"#,
    ],
    [#"{"b":[1],"a":2}"#, #"{"a":2,"b":[1]}"#, #"{"b":[3,4,5],"a":6}"#, #"{"b":[7],"a":8}"#],
    // An array is where its key was before.
    [#"{"d":[{}],"b":[7]}"#, #"{"d":[],"b":[8,9]}"#, #"{"d":[{},{}],"b":[]}"#],
    // Names that begin or end alike.
    [#"{"a":1,"ab":2}"#, #"{"ab":3,"a":4}"#, #"{"abc":5,"a":6}"#, #"{"":7,"a":8}"#],
    [
      #"{"aNameOfManyLetters":1,"x":9}"#, #"{"aNameOfNanyLetters":2,"x":9}"#,
      #"{"aNameOfManyLetterz":3,"x":9}"#,
      #"{"aNameOfManyLetter":4,"x":9}"#, #"{"aNameOfManyLetters":5,"x":9}"#,
    ],
    // White space, and names so near to the end that they are not compared by words.
    [#" { "a" : 1 , "x":2 } "#, #"{"a":3,"x":4}"#, #"{"a"  :5}"#, #"{"x":6}"#],
    // No JSON, and other values.
    [#"{"a":1,"x":2}"#, #"{"a" 1}"#, #"{"a"}"#, #"{"a":1,"x":}"#, #"{"a":1,"x""#, "[]", #"{"a":3,"x":4}"#],
    [
      #"{"a":1}"#, #"{"a":"s"}"#, #"{"a":1.0}"#, #"{"c":{"x":[]}}"#, #"{"d":[{"x":1},{"x":true}]}"#,
      #"{"a":2}"#,
    ],
  ])
  func readsEachAsIfItWereAlone(_ texts: [String]) {
    let habits = JSONHabits()
    for text in texts + texts { expectSame(Item.self, text, habits) }
  }

  /// Asks for members of two levels in an order that depends on what it finds.
  private struct Probe: Decodable, Equatable {
    var answers: [String] = []

    init(from decoder: any Decoder) throws {
      let outer = try decoder.container(keyedBy: Name.self)
      let inner = try? outer.nestedContainer(keyedBy: Name.self, forKey: "c")
      let asksInnerFirst = (try? outer.decode(Int.self, forKey: "a")) ?? 0 > 1
      for name in ["x", "y", "a"] as [Name] {
        for container in asksInnerFirst ? [inner, outer] : [outer, inner] {
          answers.append("\(name.stringValue)=\((try? container?.decode(Int.self, forKey: name)) ?? -1)")
          answers.append("\(container?.contains(name) ?? false)")
        }
      }
      answers += outer.allKeys.map(\.stringValue)
    }
  }

  private struct Name: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringLiteral name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  @Test(arguments: 0..<20)
  func asksInAnyOrder(_ seed: UInt64) {
    var random = Numbers(state: seed)
    let habits = JSONHabits()
    for _ in 0..<300 {
      var members: [String] = []
      for name in ["a", "b", "c", "x", "y", "\\u0078"] where Int.random(in: 0..<8, using: &random) > 0 {
        if name == "\\u0078", Int.random(in: 0..<8, using: &random) > 0 { continue }
        let number = Int.random(in: 0..<4, using: &random)
        let list = "[\(Array(repeating: "1", count: number).joined(separator: ","))]"
        switch name {
        case "b": members.append("\"b\":\(list)")
        case "c": members.append("\"c\":{\"b\":\(list),\"x\":\(number),\"y\":\(list.count)}")
        default: members.append("\"\(name)\":\(number)")
        }
      }
      if Int.random(in: 0..<4, using: &random) == 0 { members.shuffle(using: &random) }
      if Int.random(in: 0..<8, using: &random) == 0, let first = members.first { members.append(first) }
      expectSame(Probe.self, "{\(members.joined(separator: ","))}", habits)
    }
  }

  @Test func readsMoreNamesThanAreRemembered() {
    let habits = JSONHabits()
    for number in 0..<40 {
      let many = (0..<(number % 3 == 0 ? 300 : 200)).map { "\"k\($0 % (250 + number))\":\(number + $0)" }
      expectSame([String: Int].self, "{\(many.joined(separator: ","))}", habits)
      let others = (0..<50).map { "\"o\(number)-\($0)\":\($0)" }
      expectSame([String: Int].self, "{\(others.joined(separator: ","))}", habits)
    }
  }

  @Test func aDecoderThatIsKeptReadsItsOwnText() throws {
    struct Kept: Decodable {
      let decoder: any Decoder
      init(from decoder: any Decoder) { self.decoder = decoder }
    }
    let habits = JSONHabits()
    let kept = try (1...3).map { try decode(Kept.self, "{\"a\":\($0)}", habits) }
    #expect(try kept.map { try Item(from: $0.decoder).a } == [1, 2, 3])
  }

  private func expectSame<Value: Decodable & Equatable>(
    _ type: Value.Type, _ text: String, _ habits: JSONHabits
  ) {
    let alone = Result { try decode(type, text, nil) }
    switch (Result { try decode(type, text, habits) }, alone) {
    case (.success(let value), .success(let expected)): #expect(value == expected, "\(text)")
    case (.failure(let error), .failure(let expected)): #expect("\(error)" == "\(expected)", "\(text)")
    case (let value, let expected): Issue.record("\(value) instead of \(expected) in \(text)")
    }
  }

  private func decode<Value: Decodable>(
    _ type: Value.Type, _ text: String, _ habits: JSONHabits?
  ) throws -> Value {
    try JSONByteDecoder().decode(type, from: Array(text.utf8)[...], adding: [], key: "", habits: habits)
  }

  /// SplitMix64.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var z = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
      return z ^ (z >> 31)
    }
  }
}
