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
