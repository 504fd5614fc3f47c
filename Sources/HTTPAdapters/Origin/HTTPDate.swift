package import SyncModels

/// Times in the format of HTTP headers: `Sat, 21 Nov 2026 09:51:24 GMT`.
package enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Parses a time in the form that RFC 9110 prefers; `nil` for any other text.
  package static func timestamp(_ text: String) -> Timestamp? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let day = number(parts[1], 1...31),
      let month = months.firstIndex(of: String(parts[2])), let year = number(parts[3], 1970...9999)
    else { return nil }
    let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
    guard clock.count == 3, let hour = number(clock[0], 0...23), let minute = number(clock[1], 0...59),
      let second = number(clock[2], 0...60)
    else { return nil }
    // Days from civil, with years that begin in March (H. Hinnant, "chrono-Compatible Low-Level
    // Date Algorithms").
    let shifted = month >= 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 10) % 12) + 2) / 5 + day - 1
    let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    return Timestamp(milliseconds: Int64(seconds) * 1000)
  }

  private static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let value = Int(text)
    else { return nil }
    return range.contains(value) ? value : nil
  }
}
