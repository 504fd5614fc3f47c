extension JSONScanner {
  /// Checks the string whose opening quote is at an offset.
  static func string(at start: Int, of text: Span<UInt8>) throws(JSONError) -> JSONToken {
    var offset = start + 1
    var hasEscapes = false
    while true {
      offset = skipPlainWords(from: offset, of: text)
      let byte = byte(at: offset, of: text)
      if isPlain(byte) {
        offset += 1
      } else if byte == UInt8(ascii: "\"") {
        return JSONToken(kind: .string, hasEscapes: hasEscapes, start: start, end: offset + 1)
      } else if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        offset = try escape(at: offset, of: text)
      } else if byte < 0x20 {
        throw unexpected(at: offset, of: text, .controlCharacter)
      } else {
        offset = try multibyteScalar(at: offset, of: text)
      }
    }
  }

  /// Whether a byte is ASCII that needs no escape in a string.
  @inline(__always)
  static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// Checks the escape whose backslash is at an offset, and returns the offset past it.
  private static func escape(at start: Int, of text: Span<UInt8>) throws(JSONError) -> Int {
    switch byte(at: start + 1, of: text) {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return start + 2
    case UInt8(ascii: "u"):
      for offset in start + 2..<start + 6 where hexDigit(byte(at: offset, of: text)) == nil {
        throw unexpected(at: offset, of: text, .invalidEscape)
      }
      return start + 6
    default:
      throw unexpected(at: start + 1, of: text, .invalidEscape)
    }
  }

  /// The value of a hexadecimal digit.
  static func hexDigit(_ byte: UInt8) -> UInt16? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  /// Checks a multibyte scalar (RFC 3629, section 4), and returns the offset past it.
  ///
  /// The scalar has two to four bytes.
  private static func multibyteScalar(at start: Int, of text: Span<UInt8>) throws(JSONError) -> Int {
    let length: Int
    // The first continuation byte's range excludes overlong forms, surrogates, and values past
    // U+10FFFF.
    let second: ClosedRange<UInt8>
    switch byte(at: start, of: text) {
    case 0xc2...0xdf: (length, second) = (2, 0x80...0xbf)
    case 0xe0: (length, second) = (3, 0xa0...0xbf)
    case 0xed: (length, second) = (3, 0x80...0x9f)
    case 0xe1...0xef: (length, second) = (3, 0x80...0xbf)
    case 0xf0: (length, second) = (4, 0x90...0xbf)
    case 0xf1...0xf3: (length, second) = (4, 0x80...0xbf)
    case 0xf4: (length, second) = (4, 0x80...0x8f)
    default: throw JSONError(.invalidUTF8, at: start)
    }
    guard second.contains(byte(at: start + 1, of: text)) else {
      throw unexpected(at: start + 1, of: text, .invalidUTF8)
    }
    for offset in start + 2..<start + max(length, 2) where byte(at: offset, of: text) & 0xc0 != 0x80 {
      throw unexpected(at: offset, of: text, .invalidUTF8)
    }
    return start + length
  }
}
