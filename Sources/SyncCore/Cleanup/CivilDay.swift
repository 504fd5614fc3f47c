import SyncModels

extension Timestamp {
  /// The day in UTC, as in `2026-04-01`.
  var date: String {
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
}

extension String {
  /// Whether the text is a civil day, as in `2026-04-01`, optionally followed by a time.
  ///
  /// The day is of the Gregorian calendar, with four digits to the year.
  var beginsWithCivilDay: Bool {
    let bytes = Array(utf8.prefix(11))
    func number(_ places: Range<Int>) -> Int? {
      var number = 0
      for byte in bytes[places] {
        guard (48...57).contains(byte) else { return nil }
        number = number * 10 + Int(byte - 48)
      }
      return number
    }
    guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      bytes.count == 10 || [UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: " ")].contains(bytes[10]),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), 1...12 ~= month
    else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return 1...days[month - 1] ~= day
  }
}
