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
  /// A number of more than 38 significant digits, or outside the range of `Decimal`, does not fit.
  public static var number: ScalarForm<Decimal> {
    ScalarForm("a number that fits Decimal") { json in
      guard case .number(let digits) = json else { return nil }
      return Decimal(json: digits)
    } write: {
      $0.isFinite ? .number($0.description) : nil
    }
  }

  /// A string with the digits, as APIs of money write amounts: `"12.50"`.
  public static var string: ScalarForm<Decimal> {
    ScalarForm("a decimal number in a string", meaning: .number) { json in
      guard case .string(let digits) = json else { return nil }
      return Decimal(json: digits)
    } write: {
      $0.isFinite ? .string($0.description) : nil
    }
  }
}

extension Decimal {
  /// Parses a number in the grammar of JSON, if it fits.
  fileprivate init?(json text: String) {
    guard let number = DecimalDigits(text) else { return nil }
    // `Decimal(string:)` rounds beyond 38 digits, and takes text behind the number.
    guard number.significant <= 38, let value = Decimal(string: text), value.isFinite,
      !(value.isZero && number.significant > 0)
    else { return nil }
    self = value
  }
}

/// The digits of a number in the grammar of JSON.
private struct DecimalDigits {
  /// The number of digits without leading and trailing zeros.
  var significant = 0

  init?(_ text: String) {
    guard case .number(let digits)? = JSONScalar(spelling: text) else { return nil }
    let mantissa = digits.prefix { $0 != "e" && $0 != "E" }.filter(\.isNumber)
    let trimmed = mantissa.drop { $0 == "0" }
    significant =
      (trimmed.lastIndex { $0 != "0" }).map { trimmed.distance(from: trimmed.startIndex, to: $0) + 1 } ?? 0
  }
}
