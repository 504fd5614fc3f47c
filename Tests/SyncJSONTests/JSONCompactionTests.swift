import SyncJSON
import Testing

@Suite("Compacting JSON")
struct JSONCompactionTests {
  static let texts = [
    " { \"a b\" : [ 1.50 , -0e+1 ,\t\"x \\\" y\\\\\" , { } ] ,\r\n \"\\u0020\" : null } ",
    "[ ]", " 1 ", "\" \\\\\"", "[\"\\\\\" , \"\\\\\\\" \"]", "{\"a\":{\"a\":[true , false]}}",
  ]

  @Test(arguments: texts)
  func leavesTheSameTokens(_ text: String) throws {
    let compact = JSONScanner.compacted(Array(text.utf8)[...])
    #expect(accepts(compact))
    #expect(try tokens(of: compact) == tokens(of: Array(text.utf8)))
  }

  @Test(arguments: texts)
  func changesNothingTheSecondTime(_ text: String) {
    let compact = JSONScanner.compacted(Array(text.utf8)[...])
    #expect(JSONScanner.compacted(compact[...]) == compact)
  }

  @Test func removesAllWhiteSpaceOutsideStrings() {
    let compact = JSONScanner.compacted(Array(Self.texts[0].utf8)[...])
    #expect(
      String(decoding: compact, as: UTF8.self)
        == #"{"a b":[1.50,-0e+1,"x \" y\\",{}],"\u0020":null}"#)
  }

  /// The text's scalars and brackets as written, in order.
  private func tokens(of bytes: [UInt8]) throws -> [String] {
    var tokens: [String] = []
    func visit(_ value: JSONValueSlice) throws(JSONError) {
      switch value.kind {
      case .object:
        tokens.append("{")
        try JSONScanner.members(of: value.bytes) { member throws(JSONError) in
          tokens.append(String(decoding: member.rawKey, as: UTF8.self) + ":")
          try visit(member.value)
        }
        tokens.append("}")
      case .array:
        tokens.append("[")
        try JSONScanner.elements(of: value.bytes, visit)
        tokens.append("]")
      default: tokens.append(String(decoding: value.bytes, as: UTF8.self))
      }
    }
    try visit(JSONValueSlice(checking: bytes[...]))
    return tokens
  }
}
