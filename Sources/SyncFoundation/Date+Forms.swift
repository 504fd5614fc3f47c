public import SyncModels

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Date: ScalarFormed, FieldValueConvertible {
  /// RFC 3339, with a fraction where there is one.
  public static var scalarForm: ScalarForm<Date> { .rfc3339 }

  /// The date in its default form; null outside the years 0 to 9999.
  public var fieldValue: FieldValue { Self.scalarForm.fieldValue(of: self) }
}

extension ScalarForm where Value == Date {
  /// RFC 3339 with the fewest fraction digits of 0, 3 and 6: `2026-04-01T18:00:00Z`.
  ///
  /// Any offset and any number of fraction digits is read. Digits past the microsecond are
  /// ignored.
  public static var rfc3339: ScalarForm<Date> { rfc3339(fractionDigits: nil) }

  /// RFC 3339 with a fixed number of fraction digits, 0 to 6.
  ///
  /// Strings of one length are in the order of time; the rest of the fraction is dropped.
  public static func rfc3339(fractionDigits: Int?) -> ScalarForm<Date> {
    let digits = fractionDigits.map { min(max($0, 0), 6) }
    return ScalarForm("an RFC 3339 date", meaning: .instant, isString: true) { (text) throws(OtherForm) in
      // A day alone, and a time of no known zone, are not instants.
      guard let timestamp = Timestamp(iso8601: text, withOffset: true) else { throw OtherForm() }
      return Date(timestamp: timestamp)
    } write: { date in
      date.timestamp?.rfc3339(fractionDigits: digits).map { .string($0) }
    }
  }

  /// A day in UTC without a time: `2026-04-01`. The value is its first instant.
  public static var day: ScalarForm<Date> {
    ScalarForm("a day as YYYY-MM-DD", meaning: .instant) { json in
      guard case .string(let text) = json, text.utf8.count == 10 else { return nil }
      return Timestamp(iso8601: text).map(Date.init(timestamp:))
    } write: { date in
      date.timestamp?.rfc3339(fractionDigits: 0).map { .string(String($0.prefix(10))) }
    }
  }

  /// Seconds since 1970 as a number, with a fraction where there is one.
  public static var secondsSince1970: ScalarForm<Date> {
    ScalarForm("a number of seconds since 1970") { json in
      Timestamp(json, unit: 1_000_000).map(Date.init(timestamp:))
    } write: { date in
      date.timestamp.map { .number($0.decimal(unit: 1_000_000)) }
    }
  }

  /// Milliseconds since 1970 as a whole number; a date is rounded down to it.
  public static var millisecondsSince1970: ScalarForm<Date> {
    ScalarForm("a number of milliseconds since 1970") { json in
      Timestamp(json, unit: 1000).map(Date.init(timestamp:))
    } write: { date in
      date.timestamp.map { .number(String($0.wholeMilliseconds)) }
    }
  }
}

extension Date {
  /// Creates the date of a timestamp.
  public init(timestamp: Timestamp) {
    self.init(timeIntervalSince1970: Double(timestamp.microseconds) / 1_000_000)
  }

  /// The date to the nearest microsecond; `nil` beyond 292,000 years from 1970.
  public var timestamp: Timestamp? {
    let microseconds = (timeIntervalSince1970 * 1_000_000).rounded()
    return Int64(exactly: microseconds).map { Timestamp(microseconds: $0) }
  }
}

extension Timestamp {
  /// Parses a JSON number in a unit of so many microseconds; `nil` for anything else.
  fileprivate init?(_ json: JSONScalar, unit: Double) {
    guard case .number(let digits) = json, let number = Double(digits),
      let microseconds = Int64(exactly: (number * unit).rounded())
    else { return nil }
    self.init(microseconds: microseconds)
  }

  fileprivate var wholeMilliseconds: Int64 {
    let rest = microseconds % 1000
    return microseconds / 1000 - (rest < 0 ? 1 : 0)
  }

  /// The number in a unit of so many microseconds, with the digits of its fraction.
  fileprivate func decimal(unit: UInt64) -> String {
    let (whole, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: unit)
    var fraction = String(String(unit + rest).dropFirst())
    while fraction.last == "0" { fraction.removeLast() }
    return (microseconds < 0 ? "-" : "") + String(whole) + (fraction.isEmpty ? "" : "." + fraction)
  }
}
