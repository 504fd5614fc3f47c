/// The declaration of one record type.
///
/// ```swift
/// Entity(
///   "games", schemaVersion: 2, schemaVersionField: "schema",
///   references: [.to("teams", by: "home_team_id"), .to("teams", by: "away_team_id")],
///   indexes: ["date"])
/// ```
///
/// An ``SyncSchema`` checks the names and resolves the references when the entity joins it.
public struct Entity: Hashable, Sendable, Codable {
  /// The name of the record type.
  public let type: RecordType
  /// The newest schema version that the app understands, 1 or more.
  ///
  /// Records of a newer version are withheld until the app understands it.
  public let schemaVersion: Int
  /// The field that holds the schema version a record was written with.
  ///
  /// Without such a field every record counts as understood.
  public let schemaVersionField: FieldName?
  /// The fields that hold the key of another record.
  public let references: [Reference]
  /// The key that identifies one thing in the world, such as a device's hardware address.
  public let naturalKey: NaturalKey?
  /// The fields that queries filter and sort by. The store keeps an index for each.
  public let indexes: [FieldName]
  /// Where a record carries the stamp of its edit.
  public let stamping: Stamping
  /// The fields whose first value stays, such as `createdAt`.
  ///
  /// Once a record has a value, no edit and no copy changes it. Of two values the earliest stays:
  /// of two dates (ISO 8601) the earlier instant, of two numbers the smaller, otherwise the one
  /// whose bytes come first. So every replica arrives at the same value. If a copy from the remote
  /// changes such a field, readers see the earliest value, and an edit that restores it waits in
  /// the outbox. A type that is ``Access/readOnly`` shows the value that the remote has.
  public let immutable: [FieldName]
  /// When readers see the changes of a sync.
  public let visibility: Visibility
  /// Which way the type's records go.
  public let access: Access
  /// Every declared field once: references first, then the natural key's, then the indexed ones.
  public let fields: [FieldName]
  /// The traits of the type's remote; empty in a bare declaration.
  package var remote = RemoteTraits()

  /// Declares a record type.
  ///
  /// A `stampField` is a field for the stamps, and means ``Stamping/field(_:)``.
  public init(
    _ type: RecordType, schemaVersion: Int = 1, schemaVersionField: FieldName? = nil,
    references: [Reference] = [], naturalKey: NaturalKey? = nil, indexes: [FieldName] = [],
    stampField: FieldName? = nil, stamping: Stamping = .automatic, immutable: [FieldName] = [],
    visibility: Visibility = .perPage, access: Access = .readWrite
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
    self.access = access
    var fields: [FieldName] = []
    for field in references.map(\.field) + (naturalKey?.fields ?? []) + indexes where !fields.contains(field)
    {
      fields.append(field)
    }
    self.fields = fields
  }

  /// Which way a type's records go.
  public enum Access: String, Hashable, Sendable, Codable {
    /// From the remote to the store, and the app's edits back.
    case readWrite
    /// From the remote to the store. An edit by the app is an error, `invalidEdit`.
    ///
    /// What the engine itself has to write, such as the deletion of duplicates, goes to the remote.
    case readOnly
    /// Nowhere: the records stay in this store, and edits of them are complete at once.
    ///
    /// A sync neither pulls nor pushes the type. Records of other types cannot refer to it by an
    /// ordered reference, as the remote would lack the target. Once the type is declared as
    /// ``readWrite``, the records that were made meanwhile are pushed as insertions, earlier than every
    /// edit. Edits of records that the remote has, from before, are pushed then too. Once it is declared
    /// as ``readOnly``, those records become drafts, which the app releases or discards.
    case local
  }

  /// When readers see the changes of a sync.
  public enum Visibility: String, Hashable, Sendable, Codable {
    /// With each page, as the page is committed.
    case perPage
    /// All at once, when the pass over the type is complete. Until then readers see the previous
    /// state.
    ///
    /// The same transaction removes the records that a complete listing lacked. A record that live
    /// records refer to stays: its deletion is held. If the sweep is refused
    /// (``SyncResult/refusedSweeps``), the listed copies appear without it. The app's edits, of any
    /// type, wait for the transaction. It takes as long as writing all changed records of the type
    /// once more.
    case wholeEntity
  }

  /// The records that must be visible before a record is.
  ///
  /// They are the targets of its ordered references. Unordered references and null ones are left
  /// out.
  public func requiredReferences(of record: Record) -> [RecordID] {
    references(of: record) { $0.isOrdered }
  }

  /// The records that a record refers to, by any declared reference, without itself.
  public func allReferences(of record: Record) -> [RecordID] {
    references(of: record) { _ in true }
  }

  private func references(of record: Record, where counts: (Reference) -> Bool) -> [RecordID] {
    var ids: [RecordID] = []
    // References come first in `fields`, in declaration order, unless two share a field.
    for reference in references where counts(reference) {
      guard let id = target(of: record, by: reference) else { continue }
      // A record's reference to itself is satisfied by the record.
      if id != record.id, !ids.contains(id) { ids.append(id) }
    }
    return ids
  }

  /// The record that one reference of a record names.
  package func target(of record: Record, by reference: Reference) -> RecordID? {
    guard let index = fields.firstIndex(of: reference.field), index < record.fields.count,
      case .string(let key) = record.fields[index]
    else { return nil }
    return RecordID(type: reference.target, key: key)
  }

  /// Whether the type has an ordered reference to itself.
  package var refersToItself: Bool { references.contains { $0.isOrdered && $0.target == type } }
}
