/// Reads checked JSON numbers.
enum JSONNumber {
  /// The value of a number without fraction and exponent, if the type can hold it.
  static func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, from text: Span<UInt8>) -> Integer? {
    let isNegative = JSONScanner.byte(at: 0, of: text) == UInt8(ascii: "-")
    var result: Integer = 0
    for offset in (isNegative ? 1 : 0)..<text.count {
      let byte = text[offset]
      guard JSONScanner.isDigit(byte) else { return nil }
      // A negative number is built downwards, so the least one needs no absolute value.
      let (product, tooFar) = result.multipliedReportingOverflow(by: 10)
      let digit = Integer(truncatingIfNeeded: byte &- UInt8(ascii: "0"))
      let (sum, past) =
        isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      if tooFar || past { return nil }
      result = sum
    }
    return result
  }

  /// The value of a number, correctly rounded.
  static func double(from text: Span<UInt8>) -> Double {
    shortDouble(from: text) ?? Double(spelling(of: text)) ?? .nan
  }

  /// The value of a number, rounded once, to single precision.
  static func float(from text: Span<UInt8>) -> Float {
    Float(spelling(of: text)) ?? .nan
  }

  private static func spelling(of text: Span<UInt8>) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    for offset in text.indices { bytes.append(text[offset]) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The value of a number with few digits, which floating-point arithmetic rounds correctly.
  ///
  /// Integers up to 2^53 and powers of ten up to 10^22 are exact as doubles, so one multiplication
  /// or division of the two rounds once (Clinger, 1990).
  private static func shortDouble(from text: Span<UInt8>) -> Double? {
    let isNegative = JSONScanner.byte(at: 0, of: text) == UInt8(ascii: "-")
    var offset = isNegative ? 1 : 0
    var digits: UInt64 = 0
    var scale = 0
    var isFraction = false
    while offset < text.count {
      let byte = text[offset]
      if JSONScanner.isDigit(byte) {
        digits = digits * 10 + UInt64(byte &- UInt8(ascii: "0"))
        guard digits <= 1 << 53 else { return nil }
        if isFraction { scale += 1 }
      } else if byte == UInt8(ascii: ".") {
        isFraction = true
      } else {
        return nil
      }
      offset += 1
    }
    guard scale < powersOfTen.count else { return nil }
    let value = Double(digits) / powersOfTen[scale]
    return isNegative ? -value : value
  }

  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
  ]
}
