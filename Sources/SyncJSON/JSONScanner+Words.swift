extension JSONScanner {
  /// Skips ASCII that needs no escape in a string, eight bytes at once.
  ///
  /// The caller handles the last bytes of the text, fewer than eight. The test of all bytes of a
  /// word at once is Alan Mycroft's, of 1987: a byte that borrows in a subtraction was zero, and
  /// the lowest such byte is certain.
  @inline(__always)
  static func skipPlainWords(from start: Int, of text: Span<UInt8>) -> Int {
    var offset = start
    while offset <= text.count &- 8 {
      let marks = marksOfSpecials(in: word(at: offset, of: text))
      guard marks == 0 else { return offset &+ marks.trailingZeroBitCount / 8 }
      offset &+= 8
    }
    return offset
  }

  /// The eight bytes from an offset, the first one lowest, by one load.
  @inline(__always)
  static func word(at offset: Int, of text: Span<UInt8>) -> UInt64 {
    let eight = text.extracting(offset..<(offset &+ 8))
    var word: UInt64 = 0
    for place in 0..<8 { word |= UInt64(eight[place]) &<< UInt64(8 &* place) }
    return word
  }

  /// The highest bits of the bytes that are not ``isPlain(_:)``.
  ///
  /// Only the lowest bit is certain.
  @inline(__always)
  private static func marksOfSpecials(in word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let isQuote = (word ^ (ones &* 0x22)) &- ones
    let isBackslash = (word ^ (ones &* 0x5c)) &- ones
    let isControl = word &- (ones &* 0x20)
    return (isQuote | isBackslash | isControl | word) & (ones &* 0x80)
  }
}
