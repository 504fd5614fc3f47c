extension JSONScanner {
  /// Checks the number that begins at an offset with a digit or a minus sign.
  static func number(at start: Int, of text: Span<UInt8>) throws(JSONError) -> JSONToken {
    var offset = start
    if byte(at: offset, of: text) == UInt8(ascii: "-") { offset += 1 }
    if byte(at: offset, of: text) == UInt8(ascii: "0") {
      offset += 1
      if isDigit(byte(at: offset, of: text)) { throw JSONError(.invalidNumber, at: offset) }
    } else {
      offset = try digits(at: offset, of: text)
    }
    if byte(at: offset, of: text) == UInt8(ascii: ".") {
      offset = try digits(at: offset + 1, of: text)
    }
    // Setting this bit maps E to e, and no other byte to e.
    if byte(at: offset, of: text) | 0x20 == UInt8(ascii: "e") {
      offset += 1
      let sign = byte(at: offset, of: text)
      if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { offset += 1 }
      offset = try digits(at: offset, of: text)
    }
    return JSONToken(kind: .number, hasEscapes: false, start: start, end: offset)
  }

  /// Requires one digit or more, and returns the offset past them.
  @inline(__always)
  private static func digits(at start: Int, of text: Span<UInt8>) throws(JSONError) -> Int {
    var offset = start
    while isDigit(byte(at: offset, of: text)) { offset += 1 }
    guard offset > start else { throw unexpected(at: offset, of: text, .invalidNumber) }
    return offset
  }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
