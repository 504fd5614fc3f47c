extension JSONScanner {
  /// The same JSON without the white space between its tokens.
  ///
  /// Everything else stays as written, the spelling of numbers and strings included.
  ///
  /// - Parameter bytes: Checked JSON. The result for other bytes is meaningless.
  public static func compacted(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var isString = false
    var isEscaped = false
    for byte in bytes {
      if isString {
        isString = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      } else if isWhitespace(byte) {
        continue
      } else {
        isString = byte == UInt8(ascii: "\"")
      }
      result.append(byte)
    }
    return result
  }
}
