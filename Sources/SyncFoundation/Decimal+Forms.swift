public import SyncModels

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Decimal: ScalarFormed, FieldValueConvertible {
  /// A number, with its decimal digits.
  public static var scalarForm: ScalarForm<Decimal> { .number }

  /// The number as stores compare it: an integer, or the nearest `Double`.
  public var fieldValue: FieldValue { Self.scalarForm.fieldValue(of: self) }
}

extension ScalarForm where Value == Decimal {
  /// A number, read and written by its decimal digits and not through `Double`.
  ///
  /// A number that `Decimal` would round, as most of 39 significant digits, or that is outside its range
  /// does not fit.
  public static var number: ScalarForm<Decimal> {
    ScalarForm("a number that fits Decimal", isString: false) { (digits) throws(OtherForm) in
      try Decimal(json: digits)
    } write: {
      $0.isFinite ? .number($0.description) : nil
    }
  }

  /// A string with the digits, as APIs of money write amounts: `"12.50"`.
  public static var string: ScalarForm<Decimal> {
    ScalarForm("a decimal number in a string", meaning: .number, isString: true) {
      (digits) throws(OtherForm) in
      try Decimal(json: digits)
    } write: {
      $0.isFinite ? .string($0.description) : nil
    }
  }
}

extension Decimal {
  /// Parses a number in the grammar of JSON, if it fits.
  fileprivate init(json digits: ArraySlice<UInt8>) throws(OtherForm) {
    if let value = Self.short(digits) {
      self = value
      return
    }
    let text = String(decoding: digits, as: UTF8.self)
    guard let number = DecimalDigits(text) else { throw OtherForm() }
    // `Decimal(string:)` rounds beyond 128 bits, and takes text behind the number.
    guard let value = Decimal(string: text), value.isFinite, value.isZero == number.significant.isEmpty,
      number.significant.count <= 38 || DecimalDigits(value.description)?.significant == number.significant
    else { throw OtherForm() }
    self = value
  }
}

extension Decimal {
  /// The value of a number with at most 18 digits and without an exponent, such as most prices are.
  ///
  /// `Decimal(string:)` takes ten times as long.
  private static func short(_ digits: ArraySlice<UInt8>) -> Decimal? {
    let isNegative = digits.first == UInt8(ascii: "-")
    var (mantissa, places, fraction): (Int64, Int, Int?) = (0, 0, nil)
    var (zeros, isWithinFraction) = (0, false)
    for byte in digits.dropFirst(isNegative ? 1 : 0) {
      if byte == UInt8(ascii: "."), !isWithinFraction, places > 0 {
        (isWithinFraction, fraction) = (true, 0)
        continue
      }
      let digit = byte &- UInt8(ascii: "0")
      // The grammar allows no zero before another digit.
      guard digit < 10, places < 18, places != 1 || isWithinFraction || mantissa > 0 else { return nil }
      places += 1
      guard let found = fraction else {
        mantissa = mantissa * 10 + Int64(digit)
        continue
      }
      // Zeros at the end of a fraction are no part of the value.
      zeros = digit == 0 ? zeros + 1 : 0
      fraction = found + 1
      mantissa = mantissa * 10 + Int64(digit)
    }
    guard places > 0, fraction != 0 else { return nil }
    for _ in 0..<zeros { mantissa /= 10 }
    return Decimal(
      sign: isNegative && mantissa > 0 ? .minus : .plus, exponent: zeros - (fraction ?? 0),
      significand: Decimal(mantissa))
  }
}

/// The digits of a number in the grammar of JSON.
private struct DecimalDigits {
  /// The digits without leading and trailing zeros.
  let significant: Substring

  init?(_ text: String) {
    guard case .number(let digits)? = JSONScalar(spelling: text) else { return nil }
    let mantissa = digits.prefix { $0 != "e" && $0 != "E" }.filter(\.isNumber)
    let trimmed = mantissa.drop { $0 == "0" }
    significant = trimmed.lastIndex { $0 != "0" }.map { trimmed[...$0] } ?? ""
  }
}
