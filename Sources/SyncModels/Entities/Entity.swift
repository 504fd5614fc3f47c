/// The declaration of one record type: everything the library knows of it, in one place.
///
/// ```swift
/// Entity(
///   "games", schemaVersion: 2, schemaVersionField: "schema",
///   references: [.to("teams", by: "home_team_id"), .to("teams", by: "away_team_id")],
///   indexes: ["date"])
/// ```
///
/// Names are checked, and references resolved, when the entity joins an ``EntityGraph``.
public struct Entity: Hashable, Sendable, Codable {
  /// The record type declared.
  public let type: RecordType
  /// The newest schema that the app understands, 1 or more; records of a newer one are kept aside until it does.
  public let schemaVersion: Int
  /// The field that holds the schema a record was written with; without one, records are taken as understood.
  public let schemaVersionField: FieldName?
  /// The fields that hold the key of another record.
  public let references: [Reference]
  /// What makes two records the same thing in the world, such as a device's hardware address.
  public let naturalKey: NaturalKey?
  /// The fields that queries filter and sort by; the store keeps an index for each.
  public let indexes: [FieldName]
  /// The field that edits are stamped in: the library writes each edit's ``EditStamp`` there, and compares remote copies by it; without one, they
  /// are compared by the remote's modification time.
  public let stampField: FieldName?
  /// When readers see what a sync brings.
  public let visibility: Visibility
  /// Every declared field once: references first, then the natural key's, then the indexed ones.
  public let fields: [FieldName]

  /// Declares a record type.
  public init(
    _ type: RecordType, schemaVersion: Int = 1, schemaVersionField: FieldName? = nil,
    references: [Reference] = [], naturalKey: NaturalKey? = nil, indexes: [FieldName] = [],
    stampField: FieldName? = nil, visibility: Visibility = .perPage
  ) {
    self.type = type
    self.schemaVersion = schemaVersion
    self.schemaVersionField = schemaVersionField
    self.references = references
    self.naturalKey = naturalKey
    self.indexes = indexes
    self.stampField = stampField
    self.visibility = visibility
    var fields: [FieldName] = []
    for field in references.map(\.field) + (naturalKey?.fields ?? []) + indexes where !fields.contains(field)
    {
      fields.append(field)
    }
    self.fields = fields
  }

  /// When readers see what a sync brings.
  public enum Visibility: String, Hashable, Sendable, Codable {
    /// With each page, as it is committed.
    case perPage
    /// All at once, when the pass over the type is complete; until then readers see what was there before.
    case wholeEntity
  }

  /// The records that a record refers to and must not be visible without.
  ///
  /// References declared unordered are not among them, nor are null ones.
  public func requiredReferences(of record: Record) -> [RecordID] {
    var ids: [RecordID] = []
    // References come first in `fields`, in their own order, unless two share a field.
    for reference in references where reference.isOrdered {
      guard let index = fields.firstIndex(of: reference.field), index < record.fields.count,
        case .string(let key) = record.fields[index]
      else { continue }
      let id = RecordID(type: reference.target, key: key)
      // One that refers to itself is there as soon as it is.
      if id != record.id, !ids.contains(id) { ids.append(id) }
    }
    return ids
  }
}
