/// One copy of a record: its id, version and fields, and its payload as received.
public struct Record: Hashable, Sendable {
  /// Which record this is a copy of.
  public let id: RecordID
  /// The copy's place in the remote's order of changes.
  public var version: Version
  // A `String?` starts as nil, which costs one more copy at initialization.
  /// The remote's opaque name for this copy; `nil` if there is none.
  ///
  /// A push sends it back as a precondition.
  public var entityTag: Optional<String>
  /// The schema version of the payload. ``Entity/schemaVersion`` tells which ones the app
  /// understands.
  public var schemaVersion: Int
  /// The record's JSON object as received, with unknown fields and number spelling.
  public var payload: Payload
  /// The values of the declared fields, in the order of ``Entity/fields``, extracted once.
  public var fields: [FieldValue]

  /// Creates a copy of a record.
  ///
  /// - Parameter fields: One value for each of the entity's ``Entity/fields``, in their order.
  ///   ``RecordReader`` takes all of this from the payload.
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
