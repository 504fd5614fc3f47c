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
  /// `fields` has one value for each of the entity's ``Entity/fields``, in their order.
  /// ``RecordReader`` takes all of this from the payload.
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

// The fields are not encoded: they are what a type's current declaration reads from the payload.
extension Record: Codable {
  private enum CodingKeys: CodingKey {
    case id, version, entityTag, schemaVersion, payload
  }

  /// Reads a copy without its ``fields``, which ``Entity/fields(of:)`` extracts anew.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.decode(RecordID.self, forKey: .id),
      version: try container.decode(Version.self, forKey: .version),
      entityTag: try container.decodeIfPresent(String.self, forKey: .entityTag),
      schemaVersion: try container.decode(Int.self, forKey: .schemaVersion),
      payload: try container.decode(Payload.self, forKey: .payload), fields: [])
  }

  /// Writes everything but the ``fields``.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(version, forKey: .version)
    try container.encodeIfPresent(entityTag, forKey: .entityTag)
    try container.encode(schemaVersion, forKey: .schemaVersion)
    try container.encode(payload, forKey: .payload)
  }
}
