package import CanonicalSync
import Foundation

/// One line of the log: an event and its details.
package struct LogEntry {
  package var event: String
  /// What people read in place of the event and its details.
  package var words: String?
  /// Whether a person should see the entry, also with `--quiet`.
  package var isWarning = false
  package var fields: [(key: String, value: JSON)]

  /// Creates an entry without the fields that have no value.
  package init(_ event: String, _ fields: (String, JSON?)...) {
    self.event = event
    self.fields = fields.compactMap { key, value in value.map { (key: key, value: $0) } }
  }

  /// The same entry as one that a person should see.
  package var asWarning: LogEntry {
    var entry = self
    entry.isWarning = true
    return entry
  }

  /// The line, as text or as JSON.
  func line(at time: Timestamp, asJSON: Bool) -> String {
    if asJSON {
      return JSON.object(
        [(key: "at", value: .string(time.inUTC)), (key: "event", value: .string(event))] + fields
      )
      .compact
    }
    if let words { return "\(time.inUTC) \(words)" }
    return ([time.inUTC, event] + fields.map { "\($0.key)=\(Self.plain($0.value))" }).joined(separator: " ")
  }

  /// A value as a bare word if possible, otherwise quoted.
  private static func plain(_ value: JSON) -> String {
    guard case .string(let text) = value else { return value.compact }
    let isWord =
      !text.isEmpty && text.unicodeScalars.allSatisfy { (0x21...0x7E).contains($0.value) && $0 != "\"" }
    return isWord ? text : value.compact
  }
}

extension Timestamp {
  /// The time by the machine's own clock.
  package static var now: Timestamp { ContinuousClock().timestamp }

  /// The instant in ISO 8601, to the millisecond.
  package var inUTC: String {
    Date(timeIntervalSince1970: Double(microseconds) / 1e6)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }
}
