extension Timestamp {
  /// The day in UTC, as in `2026-04-01`.
  package var date: String {
    // Days are counted from 0000-03-01, so that a leap day is a year's last (H. Hinnant,
    // "chrono-Compatible Low-Level Date Algorithms").
    var days = microseconds / 86_400_000_000
    if microseconds % 86_400_000_000 < 0 { days -= 1 }
    days += 719_468
    let era = (days >= 0 ? days : days - 146_096) / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shifted + 2) / 5 + 1
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// The instant in RFC 3339; `nil` outside the years 0 to 9999.
  ///
  /// An example is `2026-04-01T18:00:00.250Z`.
  ///
  /// - Parameter fractionDigits: 0 to 6 digits of the second's fraction, rounded down; `nil` for
  ///   the fewest of 0, 3 and 6 that lose nothing.
  package func rfc3339(fractionDigits: Int? = nil) -> String? {
    guard (Self.yearZero...Self.endOfYear9999).contains(self) else { return nil }
    let day: Int64 = 86_400_000_000
    let time = (microseconds % day + day) % day
    let fraction = time % 1_000_000
    let digits = fractionDigits ?? (fraction == 0 ? 0 : fraction % 1000 == 0 ? 3 : 6)
    let seconds = time / 1_000_000
    let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { Self.padded($0, 2) }
    let rest = digits == 0 ? "" : "." + Self.padded(fraction, 6).prefix(digits)
    return "\(date)T\(clock.joined(separator: ":"))\(rest)Z"
  }

  private static let yearZero = Timestamp(microseconds: -62_167_219_200_000_000)
  /// The last microsecond of the year 9999.
  ///
  /// RFC 3339 writes a year as four digits. A later number of a server is not a time.
  package static let endOfYear9999 = Timestamp(microseconds: 253_402_300_799_999_999)
}
