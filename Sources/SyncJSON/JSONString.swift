/// Writes strings as JSON, and reads them back.
public enum JSONString {
  /// Writes a string as JSON, quotes included.
  ///
  /// Only quotes, backslashes and control characters are escaped.
  public static func quoted(_ string: String) -> [UInt8] {
    var bytes: [UInt8] = []
    append(string, to: &bytes)
    return bytes
  }

  /// Appends a string as JSON, quotes included.
  public static func append(_ string: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    let start = bytes.count
    // Nearly all strings need no escapes: they are appended whole, then checked.
    bytes.append(contentsOf: string.utf8)
    if let first = bytes[start...].firstIndex(where: mustBeEscaped) {
      let rest = Array(bytes[first...])
      bytes.removeSubrange(first...)
      for byte in rest { appendEscaped(byte, to: &bytes) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
    guard mustBeEscaped(byte) else { return bytes.append(byte) }
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0a: bytes.append(UInt8(ascii: "n"))
    case 0x0c: bytes.append(UInt8(ascii: "f"))
    case 0x0d: bytes.append(UInt8(ascii: "r"))
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    default:
      let digit = byte & 0x0f
      bytes.append(contentsOf: [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")])
      bytes.append(UInt8(ascii: "0") + byte >> 4)
      bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  /// The text between a checked string's quotes.
  static func decoded(_ raw: ArraySlice<UInt8>, hasEscapes: Bool) -> String {
    hasEscapes ? String(decoding: unescaped(raw), as: UTF8.self) : String(decoding: raw, as: UTF8.self)
  }

  /// The UTF-8 bytes of the text between a checked string's quotes.
  static func unescaped(_ raw: ArraySlice<UInt8>) -> [UInt8] {
    let text = raw.span
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var offset = 0
    while offset < text.count {
      let byte = text[offset]
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        offset += 1
        continue
      }
      let letter = JSONScanner.byte(at: offset + 1, of: text)
      offset += 2
      switch letter {
      case UInt8(ascii: "b"): bytes.append(0x08)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case UInt8(ascii: "n"): bytes.append(0x0a)
      case UInt8(ascii: "f"): bytes.append(0x0c)
      case UInt8(ascii: "r"): bytes.append(0x0d)
      case UInt8(ascii: "u"):
        let (scalar, next) = escapedScalar(at: offset, of: text)
        bytes.append(contentsOf: Character(scalar).utf8)
        offset = next
      default: bytes.append(letter)
      }
    }
    return bytes
  }

  /// The scalar of a Unicode escape, joined with a low surrogate that may follow.
  ///
  /// The escape's four hexadecimal digits begin at an offset.
  private static func escapedScalar(at start: Int, of text: Span<UInt8>) -> (Unicode.Scalar, next: Int) {
    let unit = codeUnit(at: start, of: text)
    if UTF16.isLeadSurrogate(unit),
      JSONScanner.byte(at: start + 4, of: text) == UInt8(ascii: "\\"),
      JSONScanner.byte(at: start + 5, of: text) == UInt8(ascii: "u")
    {
      let low = codeUnit(at: start + 6, of: text)
      if UTF16.isTrailSurrogate(low) {
        return (UTF16.decode(UTF16.EncodedScalar([unit, low])), start + 10)
      }
    }
    return (Unicode.Scalar(unit) ?? "\u{FFFD}", start + 4)
  }

  /// The number of four checked hexadecimal digits.
  static func codeUnit(at start: Int, of text: Span<UInt8>) -> UInt16 {
    var unit: UInt16 = 0
    for offset in start..<start + 4 {
      unit = unit << 4 | (JSONScanner.hexDigit(JSONScanner.byte(at: offset, of: text)) ?? 0)
    }
    return unit
  }
}
