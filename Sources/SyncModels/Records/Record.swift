/// One copy of a record: what the engine needs to know of it, and its payload as it came.
public struct Record: Hashable, Sendable {
  /// Which record this is a copy of.
  public let id: RecordID
  /// The copy's place in the remote's order of changes.
  public var version: Version
  // `String?` would begin as nil, and what has such a beginning is copied once more when it is made.
  /// The remote's opaque name for this copy, sent back as a precondition of a push; `nil` where it has none.
  public var entityTag: Optional<String>
  /// The schema that the payload was written with; ``Entity/schemaVersion`` says which ones the app understands.
  public var schemaVersion: Int
  /// The record's JSON object, as it came: unknown fields, number spelling and all.
  public var payload: Payload
  /// The values of the declared fields, in the order of ``Entity/fields``, lifted from the payload once.
  public var fields: [FieldValue]

  /// Describes one copy of a record.
  ///
  /// - Parameter fields: One value for each of the entity's ``Entity/fields``, in their order. ``RecordReader``
  ///   makes records with all of this taken from the payload.
  public init(
    id: RecordID, version: Version, entityTag: String? = nil, schemaVersion: Int = 1, payload: Payload,
    fields: [FieldValue]
  ) {
    self.id = id
    self.version = version
    self.entityTag = entityTag
    self.schemaVersion = schemaVersion
    self.payload = payload
    self.fields = fields
  }
}
