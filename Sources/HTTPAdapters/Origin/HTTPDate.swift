import Foundation
package import SyncModels

/// Times in the format of HTTP headers: `Sat, 21 Nov 2026 09:51:24 GMT`.
package enum HTTPDate {
  private static let months = [
    "Jan": "01", "Feb": "02", "Mar": "03", "Apr": "04", "May": "05", "Jun": "06", "Jul": "07", "Aug": "08",
    "Sep": "09", "Oct": "10", "Nov": "11", "Dec": "12",
  ]

  /// Parses a time in the form that RFC 9110 prefers; `nil` for any other text.
  package static func timestamp(_ text: String) -> Timestamp? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", parts[1].utf8.count == 2, parts[4].utf8.count == 8,
      let month = months[String(parts[2])]
    else { return nil }
    return Timestamp(iso8601: "\(parts[3])-\(month)-\(parts[1])T\(parts[4])Z")
  }
}

extension Timestamp {
  /// The time in UTC, rounded down to the second, as in `2026-04-01T18:00:00Z`.
  package var rfc3339: String {
    let seconds = microseconds / 1_000_000 - (microseconds % 1_000_000 < 0 ? 1 : 0)
    return Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
  }
}
