import SyncJSON
import Testing

@Suite("A JSON value")
struct JSONValueSliceTests {
  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("7", 7), ("9223372036854775807", .max), ("-9223372036854775808", .min),
      ("9223372036854775808", nil), ("-9223372036854775809", nil), ("99999999999999999999999", nil),
      ("1.0", nil), ("1e0", nil), ("\"1\"", nil), ("null", nil),
    ] as [(String, Int64?)])
  func isAnIntegerWhenWrittenAsOneThatFits(_ text: String, _ integer: Int64?) throws {
    #expect(try value(text).integer() == integer)
  }

  @Test(arguments: [
    "0", "1", "0.1", "0.3", "123.456", "9007199254740993", "9007199254740992", "1e22", "1e23", "5e-324",
    "2.2250738585072011e-308", "1.7976931348623157e308", "1e999", "-1e999", "1e-999", "0.000001",
    "3.141592653589793238462643383279", "100000000000000000000000", "0.30000000000000004", "1E+2", "2.5",
    "0.00000000000000000000001", "179769313486231580793728971405301", "4503599627370497.5",
  ])
  func isTheNearestDouble(_ text: String) throws {
    let expected = try #require(Double(text))
    #expect(try value(text).double() == expected)
    #expect(try value("-" + text.drop { $0 == "-" }).double() == -expected.magnitude)
  }

  @Test func keepsTheSignOfZero() throws {
    #expect(try value("-0").double()?.sign == .minus)
    #expect(try value("-0.0").double()?.sign == .minus)
  }

  @Test(
    arguments: [
      (#""""#, ""), (#""a""#, "a"), (#""é😀""#, "é😀"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
      (#""\u0041\u00e9\u20AC""#, "Aé€"), (#""\ud83d\ude00!""#, "😀!"), (#""\u0000""#, "\0"),
      (#""\ud83d""#, "\u{fffd}"), (#""\ude00""#, "\u{fffd}"), (#""\ud83dx""#, "\u{fffd}x"),
      (#""\ud83d\n""#, "\u{fffd}\n"), (#""\ud83d\u0041""#, "\u{fffd}A"),
      (#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"), (#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
      (#""\udbff\udfff""#, "\u{10ffff}"),
    ])
  func readsItsText(_ text: String, _ expected: String) throws {
    #expect(try value(text).string().map { Array($0.utf8) } == Array(expected.utf8))
  }

  @Test(
    arguments: [
      ("{}", .object), (" [] ", .array), ("\"\"", .string), ("0", .number), ("true", .true),
      ("\nfalse\n", .false), ("null", .null),
    ] as [(String, JSONValueSlice.Kind)])
  func knowsItsKind(_ text: String, _ kind: JSONValueSlice.Kind) throws {
    let value = try value(text)
    #expect(value.kind == kind)
    #expect(String(decoding: value.bytes, as: UTF8.self) == text.filter { !$0.isWhitespace })
    #expect(value.bool() == (kind == .true ? true : kind == .false ? false : nil))
    #expect(value.isNull == (kind == .null))
    #expect((value.string() != nil) == (kind == .string))
    #expect((value.double() != nil) == (kind == .number))
  }

  @Test(arguments: [
    "", "plain", "\"\\/", "\0\u{1}\u{1f}\u{7f}", "é€😀\u{2028}", "tab\tline\nreturn\r\u{8}\u{c}", "a\"b\u{1}c",
  ])
  func readsBackWhatWasQuoted(_ text: String) throws {
    let quoted = JSONString.quoted(text)
    #expect(try JSONValueSlice(checking: quoted[...]).string() == text)
    #expect(JSONOracle.accepts(quoted))
  }

  @Test func quotesWithoutNeedlessEscapes() {
    #expect(JSONString.quoted("a/é\u{1f}\n\"") == Array(#""a/é\u001f\n\"""#.utf8))
  }
}
