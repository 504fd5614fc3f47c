import CanonicalSync
import CanonicalSyncToolSupport
import Foundation
import SyncAdapters

extension Timestamp {
  /// The instant for a person: date and time in UTC, to the second.
  var spelled: String {
    let date = Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    return date.formatted(.iso8601)
  }
}

extension Timestamp {
  /// A time before all others.
  static var distantPast: Timestamp { Timestamp(microseconds: .min) }

  /// The time since then, for a person: `3 min ago`, or `in 3 min` for a time to come.
  func ago(at now: Timestamp) -> String {
    self > now ? "in \(duration(since: now).roughly)" : "\(now.duration(since: self).roughly) ago"
  }
}

extension WithheldChange.Kind {
  /// The reason for a person.
  var word: String { self == .parked ? "waiting" : rawValue }
}

extension JSON {
  /// An instant for a program: milliseconds since 1970, as in the records.
  /// The member's name ends with `Milliseconds`.
  static func time(_ timestamp: Timestamp?) -> JSON {
    timestamp.map { .integer(Int($0.microseconds / 1000)) } ?? .null
  }

  /// A duration in whole seconds, or null.
  static func seconds(_ duration: Duration?) -> JSON {
    duration.map { .integer(Int($0.components.seconds)) } ?? .null
  }

  /// A text, or null.
  static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

  /// A version as its two parts; null for one that came from no remote.
  static func version(_ version: Version) -> JSON {
    if version == .unversioned { return .null }
    return ["sequence": .integer(Int(version.sequence)), "modifiedAtMilliseconds": .time(version.modifiedAt)]
  }
}

extension Version {
  /// The remote's number for the copy, if there is one, and its time.
  var spelled: String {
    if self == .unversioned { return "unversioned" }
    return (sequence == 0 ? "" : "#\(sequence) of ") + modifiedAt.spelled
  }
}

extension RecordChange {
  /// The bytes of a copy or of a malformed record.
  var bytes: ArraySlice<UInt8> {
    switch self {
    case .upsert(let record): record.payload.bytes
    case .malformed(let malformed): malformed.bytes.bytes
    case .tombstone: []
    }
  }
}
