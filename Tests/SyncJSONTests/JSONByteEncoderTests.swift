import SyncJSON
import Testing

@Suite("Encoding a payload")
struct JSONByteEncoderTests {
  @Test func writesMembersInOrderWithoutSpaceAndWithoutNil() throws {
    struct Game: Encodable {
      var z = "last", a = 1, missing: Int?, list = [1, 2], empty: [String: Int] = [:], ok = true
    }
    #expect(try text(Game()) == #"{"z":"last","a":1,"list":[1,2],"empty":{},"ok":true}"#)
  }

  @Test(
    arguments: [(5, "5"), (-0.0, "-0"), (0.1, "0.1"), (1e100, "1e+100"), (-2.5, "-2.5")] as [(Double, String)]
  )
  func writesDoublesShortly(_ double: Double, _ spelling: String) throws {
    #expect(try text(double) == spelling)
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan])
  func refusesNumbersThatJSONCannotSpell(_ double: Double) throws {
    let error = try #require(throws: EncodingError.self) { try text(["a": [1, double]]) }
    guard case .invalidValue(_, let context) = error else { return }
    #expect(context.codingPath.map(\.stringValue) == ["a", "Index 1"])
    #expect(throws: EncodingError.self) { try text(Float(double)) }
  }

  enum Key: String, CodingKey { case a, b, c }

  @Test func leavesOutWhatATypeFailedToEncodeAndGaveUp() throws {
    struct Careless: Encodable {
      func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(1, forKey: .a)
        #expect(throws: EncodingError.self) { try members.encode(Double.nan, forKey: .b) }
        #expect(throws: EncodingError.self) { try members.encode([1, Double.nan], forKey: .b) }
        var list = members.nestedUnkeyedContainer(forKey: .c)
        #expect(throws: EncodingError.self) { try list.encode(Double.nan) }
        #expect(throws: EncodingError.self) { try list.encode([Double.nan]) }
        #expect(list.count == 0)
        try list.encode(Lenient())
      }
    }
    struct Lenient: Encodable {
      func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        #expect(throws: EncodingError.self) { try value.encode(Double.nan) }
        try value.encode("nan")
      }
    }
    #expect(try text(Careless()) == #"{"a":1,"c":["nan"]}"#)
  }

  @Test func fillsOpenContainersInAnyOrder() throws {
    struct Interleaved: Encodable {
      func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        var a = members.nestedContainer(keyedBy: Key.self, forKey: .a)
        try members.encode([0], forKey: .b)
        var c = members.nestedUnkeyedContainer(forKey: .c)
        try a.encode("x", forKey: .a)
        try c.encode(1)
        var inner = c.nestedContainer(keyedBy: Key.self)
        try c.encode(2)
        var again = encoder.container(keyedBy: Key.self)
        try again.encode(true, forKey: .a)
        try inner.encode(Nothing(), forKey: .b)
        try a.encodeNil(forKey: .b)
        try ["s"].encode(to: c.superEncoder())
        _ = c.nestedUnkeyedContainer()
      }
    }
    #expect(
      try text([Interleaved()]) == #"[{"a":{"a":"x","b":null},"b":[0],"c":[1,{"b":{}},2,["s"],[]],"a":true}]"#
    )
  }

  struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }

  @Test func writesASuperclassUnderSuper() throws {
    class Base: Encodable { let a = 1 }
    class Derived: Base {
      override func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try super.encode(to: members.superEncoder())
        try members.encode(2, forKey: .b)
      }
    }
    #expect(try text(Derived()) == #"{"super":{"a":1},"b":2}"#)
  }

  @Test func refusesTwoShapesInOnePlace() {
    struct Torn: Encodable {
      func encode(to encoder: any Encoder) throws {
        _ = encoder.container(keyedBy: Key.self)
        _ = encoder.unkeyedContainer()
      }
    }
    struct Twice: Encodable {
      func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(1)
        try value.encode(2)
      }
    }
    #expect(throws: EncodingError.self) { try text(Torn()) }
    #expect(throws: EncodingError.self) { try text([Twice()]) }
  }

  private func text(_ value: some Encodable) throws -> String {
    String(decoding: try JSONByteEncoder().encode(value), as: UTF8.self)
  }
}
