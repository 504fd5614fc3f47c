/// A contradiction in a store, found by a verification.
///
/// It names a place and a rule, and never the contents of a record.
public struct StoreFinding: Hashable, Sendable {
  /// The part of the store that is contradictory.
  public var part: Part
  /// The record type; `nil` if the finding concerns no single type.
  public var type: RecordType?
  /// The key of the record; `nil` if the finding concerns no single record.
  public var key: String?
  /// The contradiction, for a person.
  public var detail: String

  /// Creates a finding.
  public init(_ part: Part, type: RecordType? = nil, key: String? = nil, _ detail: String) {
    self.part = part
    self.type = type
    self.key = key
    self.detail = detail
  }

  /// A part of a store.
  public enum Part: String, Hashable, Sendable, CaseIterable {
    /// The file and its pages, as the database checks them.
    case file
    /// The tables, indexes and views, and the declarations of the types.
    case schema
    /// The rows of records, and the ways to look them up.
    case rows
    /// References between records.
    case references
    /// Natural keys.
    case naturalKeys
    /// The numbers that are kept beside what they count.
    case counts
    /// Withheld changes.
    case withheld
    /// Local edits.
    case outbox
    /// The log of conflicts.
    case conflicts
    /// Checkpoints and other kept values, the lease and the marks.
    case values
  }
}

extension StoreFinding: CustomStringConvertible {
  /// The part, the place and the contradiction, on one line.
  public var description: String {
    let place = [type?.rawValue, key].compactMap(\.self).joined(separator: " ")
    return "\(part.rawValue)\(place.isEmpty ? "" : " (\(place))"): \(detail)"
  }
}
