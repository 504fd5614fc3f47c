import SyncJSON
import Testing

@Suite("Decoding a payload")
struct JSONByteDecoderTests {
  struct Game: Decodable, Equatable {
    struct Team: Decodable, Equatable { var name: String }
    var id: String
    var score: [Int8]?
    var home: Team?
    var teams: [Team]?
  }

  @Test func ignoresUnknownMembersAndWhiteSpace() throws {
    let game = try decode(Game.self, from: #" { "x" : {"id":[{}]} , "id" : "g" , "y" : [1,{"id":2}] } "#)
    #expect(game == Game(id: "g"))
  }

  @Test func takesNullForNil() throws {
    #expect(try decode(Game.self, from: #"{"id":"g","score":null,"home":null}"#) == Game(id: "g"))
  }

  @Test func findsKeysHoweverTheyAreWritten() throws {
    #expect(try decode(Game.self, from: #"{"\u0069d":"g"}"#).id == "g")
  }

  @Test func tellsKeysApartThatStringsTakeForEqual() throws {
    let text = #"{"e\u0301":1,"é":2}"#
    struct Accented: Decodable {
      enum CodingKeys: String, CodingKey { case one = "e\u{301}", two = "\u{e9}" }
      var one: Int, two: Int
    }
    let accented = try decode(Accented.self, from: text)
    #expect((accented.one, accented.two) == (1, 2))
  }

  @Test func tellsKeysApartThatHashAlike() throws {
    // These two have the same 64-bit FNV-1a hash, and the same length.
    struct Colliding: Decodable {
      enum CodingKeys: String, CodingKey { case one = "8yn0iYCKYHlIj4-BwPqk", two = "GReLUrM4wMqfg9yzV3KQ" }
      var one: Int, two: Int
    }
    let text = #"{"8yn0iYCKYHlIj4-BwPqk":1,"GReLUrM4wMqfg9yzV3KQ":2}"#
    let colliding = try decode(Colliding.self, from: text)
    #expect((colliding.one, colliding.two) == (1, 2))
  }

  @Test(arguments: [0, 50])
  func takesTheLastOfRepeatedKeys(_ others: Int) throws {
    let filler = (0..<others).map { "\"k\($0)\":0," }.joined()
    let game = try decode(
      Game.self, from: #"{"id":1,"id":"a",\#(filler)"home":{"name":"x","name":"y"},"i\u0064":"b"}"#)
    #expect(game == Game(id: "b", home: .init(name: "y")))
    let members = try decode([String: Int].self, from: "{\"a\":1,\(filler)\"a\":2}")
    #expect(members["a"] == 2)
    #expect(members.count == others + 1)
  }

  @Test(arguments: [
    ("{}", "id"), (#"{"id":1}"#, "id"), (#"{"id":null}"#, "id"),
    (#"{"id":"g","score":[1,2,128]}"#, "score.2"),
    (#"{"id":"g","score":[1,"secret"]}"#, "score.1"), (#"{"id":"g","score":"secret"}"#, "score"),
    (#"{"id":"g","home":{"name":7}}"#, "home.name"), (#"{"id":"g","home":{}}"#, "home.name"),
    (#"{"id":"g","teams":[{"name":"a"},{"name":[]}]}"#, "teams.1.name"), ("[]", ""), (#"{"id":"secret"#, ""),
  ])
  func namesThePlaceOfAFailureAndNoContents(_ text: String, _ path: String) throws {
    let error = try #require(throws: DecodingError.self) { try decode(Game.self, from: text) }
    #expect(self.path(of: error) == path)
    #expect(!"\(error)".contains("secret"))
  }

  @Test func saysWhereTheBytesAreNoJSON() throws {
    let error = try #require(throws: DecodingError.self) { try decode(Int.self, from: "[1,]") }
    guard case .dataCorrupted(let context) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(context.underlyingError as? JSONError == JSONError(.unexpectedByte, at: 3))
  }

  @Test(arguments: ["-1", "256", "1.0", "1e1", "99999999999999999999", "\"1\"", "true", "null", "[]"])
  func refusesWhatIsNoByte(_ text: String) {
    #expect(throws: DecodingError.self) { try decode(UInt8.self, from: text) }
    #expect(throws: DecodingError.self) { try decode([UInt8].self, from: "[\(text)]") }
    #expect(throws: DecodingError.self) { try decode([String: UInt8].self, from: "{\"a\":\(text)}") }
  }

  @Test func readsIntegersUpToTheBoundsOfTheirTypes() throws {
    try expectBounds(Int.self)
    try expectBounds(Int8.self)
    try expectBounds(Int16.self)
    try expectBounds(Int32.self)
    try expectBounds(Int64.self)
    try expectBounds(Int128.self)
    try expectBounds(UInt.self)
    try expectBounds(UInt8.self)
    try expectBounds(UInt16.self)
    try expectBounds(UInt32.self)
    try expectBounds(UInt64.self)
    try expectBounds(UInt128.self)
  }

  private struct Holder<Integer: FixedWidthInteger & Decodable>: Decodable {
    var value: Integer
    var other: Integer?
  }

  /// Reads a type's bounds in an object, in an array and alone, and no number past them.
  private func expectBounds<Integer: FixedWidthInteger & Codable>(_ type: Integer.Type) throws {
    // The last digit of a bound is no nine.
    func past(_ bound: Integer) -> String { bound == 0 ? "-1" : "\(bound / 10)\(bound.magnitude % 10 + 1)" }
    for bound in [Integer.min, .max] {
      #expect(try decode(type, from: "\(bound)") == bound)
      #expect(try decode([Integer].self, from: "[\(bound)]") == [bound])
      let holder = try decode(Holder<Integer>.self, from: "{\"value\":\(bound),\"other\":\(bound)}")
      #expect(holder.value == bound && holder.other == bound)
      for text in [past(bound), "1.0", "1e0", "null", "\"1\""] {
        #expect(throws: DecodingError.self) { try decode(type, from: text) }
        #expect(throws: DecodingError.self) { try decode([Integer].self, from: "[\(text)]") }
        let error = #expect(throws: DecodingError.self) {
          try decode(Holder<Integer>.self, from: "{\"value\":\(text)}")
        }
        #expect(error.map { path(of: $0) } == "value")
      }
    }
  }

  @Test func refusesNumbersPastTheGreatest() {
    #expect(throws: DecodingError.self) { try decode(Double.self, from: "1e999") }
    #expect(throws: DecodingError.self) { try decode(Float.self, from: "1e39") }
    #expect(throws: DecodingError.self) { try decode(Int.self, from: "9223372036854775808") }
  }

  @Test func roundsFloatsOnce() throws {
    // Through a double this would be rounded twice, to the neighbour.
    #expect(try decode(Float.self, from: "1.00000017881393432617187499") == 1.0000001)
  }

  @Test func readsArraysElementByElement() throws {
    struct Mixed: Decodable {
      init(from decoder: any Decoder) throws {
        var elements = try decoder.unkeyedContainer()
        #expect(elements.count == 7)
        #expect(throws: DecodingError.self) { try elements.decode(Bool.self) }
        #expect(elements.currentIndex == 0)
        #expect(try elements.decode(Int.self) == 1)
        #expect(try elements.decodeNil())
        #expect(try !elements.decodeNil())
        #expect(try elements.decode(String.self) == "a")
        #expect(try elements.nestedContainer(keyedBy: Step.self).decode(Bool.self, forKey: .next))
        var nested = try elements.nestedUnkeyedContainer()
        #expect(try nested.decode(Double.self) == 0.5)
        #expect(nested.isAtEnd)
        #expect(try elements.superDecoder().singleValueContainer().decode(Float.self) == 2)
        #expect(elements.codingPath.isEmpty)
        #expect(try elements.decodeIfPresent(Int.self) == nil)
        #expect(elements.isAtEnd)
        #expect(throws: DecodingError.self) { try elements.decode(Int.self) }
      }
    }
    _ = try decode(Mixed.self, from: #"[1,null,"a",{"next":true},[0.5],2,null]"#)
  }

  enum Step: String, CodingKey { case next, absent }

  @Test func readsNestedContainersAndSuper() throws {
    struct Nested: Decodable {
      init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Step.self)
        #expect(members.allKeys == [.next])
        #expect(members.contains(.next))
        #expect(!members.contains(.absent))
        #expect(throws: DecodingError.self) { try members.decodeNil(forKey: .absent) }
        var list = try members.nestedUnkeyedContainer(forKey: .next)
        let inner = try list.nestedContainer(keyedBy: Step.self)
        #expect(inner.codingPath.map(\.stringValue) == ["next", "Index 0"])
        #expect(try inner.decode(Int.self, forKey: .next) == 1)
        #expect(try members.superDecoder().singleValueContainer().decode(String.self) == "s")
        #expect(try members.superDecoder(forKey: .absent).singleValueContainer().decodeNil())
      }
    }
    _ = try decode(Nested.self, from: #"{"next":[{"next":1}],"super":"s"}"#)
  }

  @Test func handsUserInfoDown() throws {
    let key = try #require(CodingUserInfoKey(rawValue: "unit"))
    struct Reader: Decodable {
      let unit: String?
      init(from decoder: any Decoder) {
        unit = CodingUserInfoKey(rawValue: "unit").flatMap { decoder.userInfo[$0] as? String }
      }
    }
    let decoder = JSONByteDecoder(userInfo: [key: "metre"])
    #expect(try decoder.decode([Reader].self, from: Array("[1]".utf8)[...]).first?.unit == "metre")
  }

  private func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
    try JSONByteDecoder().decode(type, from: Array(text.utf8)[...])
  }

  /// The coding path of an error: indices as numbers, and the missing key.
  private func path(of error: DecodingError) -> String {
    let keys: [any CodingKey] =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
        context.codingPath
      case .keyNotFound(let key, let context): context.codingPath + [key]
      @unknown default: []
      }
    return keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }
}
