import Foundation
import SyncModels
import Synchronization

extension RESTAPI {
  /// How a time is written.
  public enum TimeFormat: Hashable, Sendable {
    /// `2026-04-01T18:00:00Z`.
    case rfc3339
    /// `Wed, 01 Apr 2026 18:00:00 +0000`.
    case rfc2822
    /// Seconds since 1970.
    case seconds
    /// Thousandths of a second since 1970.
    case milliseconds
    /// A number that grows, such as seconds with a fraction. Text counts as its number.
    case number
    /// A pattern of Unicode's date fields (UTS 35), in UTC, such as `yyyy-MM-dd HH:mm:ss`.
    case pattern(String)

    /// The format of a name, or else the pattern; `nil` for a text that has no field of a date.
    public init?(layout: String) {
      switch layout {
      case "rfc3339": self = .rfc3339
      case "rfc2822": self = .rfc2822
      case "seconds": self = .seconds
      case "milliseconds": self = .milliseconds
      case "number": self = .number
      default:
        self = .pattern(layout)
        // A pattern has to say the day at least.
        let day = Timestamp(milliseconds: 951_782_400_000)
        guard layout.contains("y"), let back = parsed(text(day)), back == day else { return nil }
      }
    }

    /// The name, or the pattern.
    var layout: String {
      switch self {
      case .rfc3339: "rfc3339"
      case .rfc2822: "rfc2822"
      case .seconds: "seconds"
      case .milliseconds: "milliseconds"
      case .number: "number"
      case .pattern(let pattern): pattern
      }
    }

    /// Whether a text tells the second.
    var hasSeconds: Bool {
      if case .pattern(let pattern) = self { pattern.contains("s") } else { true }
    }

    /// A time in this format, rounded down.
    func text(_ time: Timestamp) -> String {
      let microseconds = max(0, time.microseconds)
      switch self {
      case .rfc3339: return Timestamp(microseconds: microseconds).rfc3339
      case .seconds: return "\(microseconds / 1_000_000)"
      case .milliseconds: return "\(microseconds / 1000)"
      case .number:
        let fraction = String(microseconds % 1_000_000 + 1_000_000).dropFirst()
        return "\(microseconds / 1_000_000).\(fraction)"
      case .rfc2822: return Calendars.text(microseconds, by: "EEE, dd MMM yyyy HH:mm:ss '+0000'")
      case .pattern(let pattern): return Calendars.text(microseconds, by: pattern)
      }
    }

    /// The time that a text tells; `nil` for any other text.
    func parsed(_ text: String) -> Timestamp? {
      switch self {
      case .rfc3339: return Timestamp(iso8601: text)
      case .rfc2822:
        // The day of the week and the seconds may be left out (RFC 5322, 3.3 and 4.3).
        let date = text.split(separator: ",", maxSplits: 1).last ?? ""
        var parts = date.split(separator: " ").map(String.init)
        guard parts.count >= 5 else { return nil }
        if ["GMT", "UT", "UTC", "Z"].contains(parts[4]) { parts[4] = "+0000" }
        if parts[3].split(separator: ":").count == 2 { parts[3] += ":00" }
        return Calendars.time(parts[..<5].joined(separator: " "), by: "d MMM yyyy HH:mm:ss Z")
      case .pattern(let pattern): return Calendars.time(text, by: pattern)
      case .seconds, .milliseconds, .number: return nil
      }
    }
  }
}

/// Formatters of dates in UTC, by their patterns.
private enum Calendars {
  private static let formatters = Mutex<[String: DateFormatter]>([:])

  private static func use<R: Sendable>(_ pattern: String, _ body: (DateFormatter) -> R) -> R {
    formatters.withLock { formatters in
      if let known = formatters[pattern] { return body(known) }
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: "en_US_POSIX")
      formatter.timeZone = TimeZone(secondsFromGMT: 0)
      formatter.isLenient = false
      formatter.dateFormat = pattern
      formatters[pattern] = formatter
      return body(formatter)
    }
  }

  static func text(_ microseconds: Int64, by pattern: String) -> String {
    use(pattern) { $0.string(from: Date(timeIntervalSince1970: Double(microseconds) / 1e6)) }
  }

  static func time(_ text: String, by pattern: String) -> Timestamp? {
    use(pattern) { formatter in
      formatter.date(from: text).flatMap { date in
        Int64(exactly: (date.timeIntervalSince1970 * 1e6).rounded()).map { Timestamp(microseconds: $0) }
      }
    }
  }
}
