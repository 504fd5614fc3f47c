extension Timestamp {
  /// Parses an ISO 8601 date as JSON APIs write it; `nil` for any other text.
  ///
  /// The text is `2026-04-01`, or `2026-04-01T18:00:00.25Z` with optional seconds, fraction and
  /// offset. A date alone is the beginning of the day. A time without offset is in UTC. Digits past
  /// the microsecond are ignored.
  public init?(iso8601 text: String) {
    self.init(iso8601: Array(text.utf8)[...], withOffset: false)
  }

  /// Parses an ISO 8601 date from its UTF-8 bytes.
  ///
  /// - Parameter isInstant: Whether there must be a time with its offset.
  package init?(iso8601 text: ArraySlice<UInt8>, withOffset isInstant: Bool) {
    var rest = Digits(text)
    guard let year = rest.number(4), rest.skip("-"), let month = rest.number(2), (1...12).contains(month),
      rest.skip("-"), let day = rest.number(2), (1...Self.days(in: month, year)).contains(day)
    else { return nil }
    var microseconds = Self.days(year, month, day) * 86_400_000_000
    if isInstant || !rest.isAtEnd {
      guard rest.skip("T") || rest.skip("t") || rest.skip(" "), let time = rest.timeOfDay(),
        !isInstant || !rest.isAtEnd, let offset = rest.offset(), rest.isAtEnd
      else { return nil }
      microseconds += time - offset
    }
    self.init(microseconds: microseconds)
  }

  private static func days(in month: Int64, _ year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The days since 1970 in the proleptic Gregorian calendar.
  ///
  /// The algorithm is from H. Hinnant, *chrono-Compatible Low-Level Date Algorithms*.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    // Years begin in March here, so a leap day is the last day of its year.
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

/// The unread rest of a text.
private struct Digits {
  private let bytes: ArraySlice<UInt8>
  private var next: Int

  init(_ text: ArraySlice<UInt8>) { (bytes, next) = (text, text.startIndex) }

  var isAtEnd: Bool { next == bytes.endIndex }

  mutating func skip(_ mark: Unicode.Scalar) -> Bool {
    guard next < bytes.endIndex, UInt32(bytes[next]) == mark.value else { return false }
    next += 1
    return true
  }

  /// Reads a number of exactly this many digits.
  mutating func number(_ count: Int) -> Int64? {
    var value: Int64 = 0
    for _ in 0..<count {
      guard let digit = digit() else { return nil }
      value = value * 10 + digit
    }
    return value
  }

  private mutating func digit() -> Int64? {
    guard next < bytes.endIndex else { return nil }
    let digit = bytes[next] &- UInt8(ascii: "0")
    guard digit < 10 else { return nil }
    next += 1
    return Int64(digit)
  }

  /// Reads hours, minutes and optional seconds, in microseconds.
  mutating func timeOfDay() -> Int64? {
    guard let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60 else { return nil }
    var time = (hour * 60 + minute) * 60_000_000
    guard skip(":") else { return time }
    // A leap second counts as the first second of the next minute.
    guard let second = number(2), second <= 60 else { return nil }
    time += second * 1_000_000
    guard skip(".") || skip(",") else { return time }
    var unit: Int64 = 100_000
    guard let first = digit() else { return nil }
    time += first * unit
    while let digit = digit() {
      unit /= 10
      time += digit * unit
    }
    return time
  }

  /// Reads the offset from UTC in microseconds; 0 if there is none.
  mutating func offset() -> Int64? {
    if isAtEnd || skip("Z") || skip("z") { return 0 }
    let isWest = skip("-")
    guard isWest || skip("+"), let hours = number(2), hours < 24 else { return nil }
    var minutes: Int64 = 0
    if skip(":") || !isAtEnd {
      guard let number = number(2), number < 60 else { return nil }
      minutes = number
    }
    return (hours * 60 + minutes) * (isWest ? -60_000_000 : 60_000_000)
  }
}
