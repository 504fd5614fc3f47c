extension JSONScanner {
  /// The byte at an offset, or zero past the end.
  ///
  /// Zero begins and continues nothing in JSON.
  @inline(__always)
  static func byte(at offset: Int, of text: Span<UInt8>) -> UInt8 {
    offset < text.count ? text[offset] : 0
  }

  /// The next offset that holds no white space.
  @inline(__always)
  static func skipWhitespace(from offset: Int, of text: Span<UInt8>) -> Int {
    // Compact JSON has next to no white space: one comparison is enough.
    byte(at: offset, of: text) > UInt8(ascii: " ") ? offset : skipLongWhitespace(from: offset, of: text)
  }

  @inline(never)
  private static func skipLongWhitespace(from start: Int, of text: Span<UInt8>) -> Int {
    var offset = start
    while isWhitespace(byte(at: offset, of: text)) { offset += 1 }
    return offset
  }

  @inline(__always)
  static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
  }

  /// The error for an unexpected byte at an offset, or for the end.
  @inline(never)
  static func unexpected(
    at offset: Int, of text: Span<UInt8>, _ reason: JSONError.Reason = .unexpectedByte
  ) -> JSONError {
    offset < text.count ? JSONError(reason, at: offset) : JSONError(.unexpectedEnd, at: text.count)
  }
}
