import SyncJSON
import Testing

@Suite("A JSON scan")
struct JSONScannerTests {
  @Test(
    arguments: [
      ("", .unexpectedEnd, 0),
      (" ", .unexpectedEnd, 1),
      ("{\"a\":1", .unexpectedEnd, 6),
      ("[1,]", .unexpectedByte, 3),
      ("[1 2]", .unexpectedByte, 3),
      ("[1}", .unexpectedByte, 2),
      ("{\"a\":1]", .unexpectedByte, 6),
      ("{1:1}", .unexpectedByte, 1),
      ("nul", .unexpectedEnd, 3),
      ("nulL", .unexpectedByte, 3),
      ("1 1", .trailingBytes, 2),
      ("01", .invalidNumber, 1),
      ("1.", .unexpectedEnd, 2),
      ("1.e", .invalidNumber, 2),
      ("\"\\x\"", .invalidEscape, 2),
      ("\"\\u00g0\"", .invalidEscape, 5),
      ("\"\u{1}\"", .controlCharacter, 1),
    ] as [(String, JSONError.Reason, Int)])
  func tellsWhatIsWrongAndWhere(_ text: String, _ reason: JSONError.Reason, _ offset: Int) {
    #expect(refusal(of: Array(text.utf8)) == JSONError(reason, at: offset))
  }

  @Test(
    arguments: [
      [0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xc2, 0x20], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80],
      [0xe1, 0x80, 0x20], [0xf0, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80],
      [0xff],
    ] as [[UInt8]])
  func refusesStringsThatAreNoUTF8(_ bytes: [UInt8]) {
    #expect(refusal(of: [0x22] + bytes + [0x22])?.reason == .invalidUTF8)
  }

  @Test(arguments: [1, 63, 64, 65, 128, 129, 1000])
  func countsLevelsExactly(_ limit: Int) throws {
    let texts = [
      String(repeating: "[", count: limit) + String(repeating: "]", count: limit),
      String(repeating: "{\"a\":", count: limit) + "1" + String(repeating: "}", count: limit),
      String(repeating: "[{\"a\":[0,1],\"b\":", count: limit / 3) + "1"
        + String(repeating: "}]", count: limit / 3),
    ]
    for text in texts {
      #expect(refusal(of: Array(text.utf8), depthLimit: limit) == nil)
    }
    let deeper = Array(("[" + texts[0] + "]").utf8)
    #expect(refusal(of: deeper, depthLimit: limit) == JSONError(.nestedTooDeeply, at: limit))
    #expect(throws: JSONError(.nestedTooDeeply, at: limit)) {
      try JSONScanner.elements(of: deeper[...], depthLimit: limit) { _ in }
    }
    try JSONScanner.elements(of: deeper[...], depthLimit: limit + 1) { _ in }
  }

  @Test func visitsMembersInOrderWithRepeatedKeysEach() throws {
    let text = Array(" { \"a\" : 1 , \"b\\u0063\":[1, 2],\"a\":\"\\n\" } ".utf8)
    var seen: [String] = []
    try JSONScanner.members(of: text[...]) { member in
      seen.append(member.key + "=" + String(decoding: member.value.bytes, as: UTF8.self))
    }
    #expect(seen == ["a=1", "bc=[1, 2]", "a=\"\\n\""])
  }

  @Test func visitsASliceByItsOwnOffsets() throws {
    let text = Array("xx{\"k\":true}xx".utf8)
    var values: [Bool?] = []
    try JSONScanner.members(of: text[2..<12]) { member in
      #expect(member.hasKey(Array("k".utf8)))
      values.append(member.value.bool())
    }
    #expect(values == [true])
    #expect(throws: JSONError(.trailingBytes, at: 10)) {
      try JSONScanner.members(of: text[2...]) { _ in }
    }
  }

  @Test(arguments: ["id", "i\\u0064", "\\u0069\\u0064"])
  func comparesKeysHoweverTheyAreWritten(_ spelling: String) throws {
    let text = Array("{\"\(spelling)\":1}".utf8)
    try JSONScanner.members(of: text[...]) { member in
      #expect(member.hasKey(Array("id".utf8)))
      #expect(!member.hasKey(Array("ie".utf8)))
      #expect(!member.hasKey(Array("i".utf8)))
      #expect(!member.hasKey(Array("idx".utf8)))
    }
  }

  @Test func visitsTheElementsOfAPage() throws {
    let text = Array("{\"data\":[{\"id\":1},{\"id\":2}],\"next\":null}".utf8)
    var elements: [String] = []
    try JSONScanner.members(of: text[...]) { member throws(JSONError) in
      guard member.hasKey(Array("data".utf8)) else { return }
      try JSONScanner.elements(of: member.value.bytes) { element in
        elements.append(String(decoding: element.bytes, as: UTF8.self))
      }
    }
    #expect(elements == ["{\"id\":1}", "{\"id\":2}"])
  }

  @Test func stopsWithWhatTheBodyThrows() {
    let text = Array("[1,2]".utf8)
    #expect(throws: JSONError(.notAnObject, at: 0)) {
      try JSONScanner.elements(of: text[...]) { element throws(JSONError) in
        try JSONScanner.members(of: element.bytes) { _ in }
      }
    }
  }

  @Test func describesAnErrorWithoutTheText() {
    #expect(
      refusal(of: Array("[\"secret\", secret]".utf8))?.description
        == "has an unexpected byte, at byte 11")
  }
}
