/// The declaration of one record type: everything the library knows of it, in one place.
///
/// ```swift
/// Entity(
///   "games", schemaVersion: 2, schemaVersionField: "schema",
///   references: [.to("teams", by: "home_team_id"), .to("teams", by: "away_team_id")],
///   indexes: ["date"])
/// ```
///
/// Names are checked, and references resolved, when the entity joins an ``SyncSchema``.
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
  /// Where the stamps of edits travel with the records.
  public let stamping: Stamping
  /// The fields, such as `createdAt`, whose first value stays: once a record has one, no edit and no copy changes it.
  ///
  /// Of two values the earliest stays: of two dates (ISO 8601) the earlier instant, of two numbers the smaller, otherwise the one whose bytes come first. So
  /// every replica comes to the same. A copy from the remote that changes one is shown with the earliest value, and an edit that restores that waits
  /// in the outbox.
  public let immutable: [FieldName]
  /// When readers see what a sync brings.
  public let visibility: Visibility
  /// Every declared field once: references first, then the natural key's, then the indexed ones.
  public let fields: [FieldName]
  /// What is known of the remote that the type is synced with; nothing in a declaration alone.
  package var remote = RemoteTraits()

  /// Declares a record type.
  ///
  /// - Parameter stampField: Means ``Stamping/field(_:)`` where it is given.
  public init(
    _ type: RecordType, schemaVersion: Int = 1, schemaVersionField: FieldName? = nil,
    references: [Reference] = [], naturalKey: NaturalKey? = nil, indexes: [FieldName] = [],
    stampField: FieldName? = nil, stamping: Stamping = .automatic, immutable: [FieldName] = [],
    visibility: Visibility = .perPage
  ) {
    self.type = type
    self.schemaVersion = schemaVersion
    self.schemaVersionField = schemaVersionField
    self.references = references
    self.naturalKey = naturalKey
    self.indexes = indexes
    self.stamping = stampField.map { .field($0) } ?? stamping
    self.immutable = immutable
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
    ///
    /// What a complete listing lacked goes in the same transaction, unless live records refer to it: that deletion is held. Where the sweep is
    /// refused (``SyncResult/refusedSweeps``), the listed copies are shown without it. The app's edits, of any type, wait for the transaction, which takes
    /// as long as writing all changed records of the type once more.
    case wholeEntity
  }

  /// The records that a record refers to and must not be visible without.
  ///
  /// References declared unordered are not among them, nor are null ones.
  public func requiredReferences(of record: Record) -> [RecordID] {
    references(of: record) { $0.isOrdered }
  }

  /// The records that a record refers to by any declared reference, ordered or not, itself excepted.
  public func allReferences(of record: Record) -> [RecordID] {
    references(of: record) { _ in true }
  }

  private func references(of record: Record, where counts: (Reference) -> Bool) -> [RecordID] {
    var ids: [RecordID] = []
    // References come first in `fields`, in their own order, unless two share a field.
    for reference in references where counts(reference) {
      guard let index = fields.firstIndex(of: reference.field), index < record.fields.count,
        case .string(let key) = record.fields[index]
      else { continue }
      let id = RecordID(type: reference.target, key: key)
      // One that refers to itself is there as soon as it is.
      if id != record.id, !ids.contains(id) { ids.append(id) }
    }
    return ids
  }

  /// Whether records of the type may refer to each other by an ordered reference.
  package var refersToItself: Bool { references.contains { $0.isOrdered && $0.target == type } }
}
