import SyncJSON

/// Where a type's records carry the stamps of their edits.
///
/// Last-write-wins compares edits by their stamps. An edit without a stamp counts as made when it
/// arrived at the remote.
public enum Stamping: Hashable, Sendable {
  /// In the member ``FieldName/editStamp``, if the remote keeps unknown members; the default.
  ///
  /// The member holds a digest of the others and the stamp. A copy that another writer changed
  /// without a new stamp counts as written when the remote accepted it.
  case automatic
  /// In a member of the app's choice.
  ///
  /// The member holds the stamp alone. Every writer must maintain it.
  case field(FieldName)
  /// Nowhere. Edits count as made when they arrived at the remote.
  case none
}

extension FieldName {
  /// The member that holds the library's own stamps; see ``Stamping/automatic``.
  public static let editStamp: FieldName = "canonicalSyncStamp"
}

extension Entity {
  /// The field that the app chose for stamps, if it chose one.
  public var stampField: FieldName? {
    if case .field(let field) = stamping { field } else { nil }
  }

  /// The stamp of the edit that wrote a payload.
  ///
  /// `nil` if the payload carries none, or has changed since it was stamped.
  package func stamp(in payload: Payload) -> EditStamp? {
    switch stamping {
    case .automatic: EditStamp(carriedBy: payload, ignoring: remote.serverManagedFields)
    case .field(let field): EditStamp(in: field, of: payload)
    case .none: nil
    }
  }

  /// The last stamp that a payload carries, even if the payload has changed since.
  package func statedStamp(in payload: Payload) -> EditStamp? {
    switch stamping {
    case .automatic: EditStamp(statedBy: payload)
    case .field(let field): EditStamp(in: field, of: payload)
    case .none: nil
    }
  }

  /// The member to search for stamps, for a type whose records carry them.
  package var stampMember: MemberMention? {
    switch stamping {
    case .automatic: remote.keepsUnknownMembers ? .editStamp : nil
    case .field(let field): MemberMention(field)
    case .none: nil
    }
  }

  /// The payload with an edit's stamp, if records of the type carry stamps.
  package func stamped(_ payload: Payload, _ stamp: EditStamp) -> Payload {
    switch stamping {
    case .automatic where remote.keepsUnknownMembers:
      return payload.stamped(stamp, ignoring: remote.serverManagedFields)
    case .field(let field):
      guard var map = try? FieldMap(payload) else { return payload }
      map[field] = JSONString.quoted(stamp.description)[...]
      return map.payload
    case .automatic, .none: return payload
    }
  }

  /// The traits of the remote that a type is synced with.
  package struct RemoteTraits: Hashable, Sendable {
    /// The meaning of the versions of one record.
    package var versions = SourceCapabilities.VersionOrder.perChange
    /// The members that the remote writes itself, whatever it receives.
    package var serverManagedFields: [FieldName] = []
    /// Whether the remote stores and returns members that no entity declares.
    package var keepsUnknownMembers = false
    /// Whether the remote takes edits.
    package var takesEdits = false

    /// Creates the traits of a remote.
    package init(
      versions: SourceCapabilities.VersionOrder = .perChange, serverManagedFields: [FieldName] = [],
      keepsUnknownMembers: Bool = false, takesEdits: Bool = false
    ) {
      self.versions = versions
      self.serverManagedFields = serverManagedFields
      self.keepsUnknownMembers = keepsUnknownMembers
      self.takesEdits = takesEdits
    }

    /// Always `true`: a declaration stays equal to itself, whatever it is synced with.
    package static func == (_: RemoteTraits, _: RemoteTraits) -> Bool { true }

    /// Adds nothing.
    package func hash(into hasher: inout Hasher) {}
  }
}

// Stores keep declarations. A member that an older one lacks, or holds in another form, reads as
// its default.
extension Entity {
  private enum CodingKeys: String, CodingKey {
    case type, schemaVersion, schemaVersionField, references, naturalKey, indexes, stampField, isStamped
    case immutable, visibility
  }

  /// Reads a declaration.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let isStamped = try values.decodeIfPresent(Bool.self, forKey: .isStamped) ?? true
    self.init(
      try values.decode(RecordType.self, forKey: .type),
      schemaVersion: try values.decode(Int.self, forKey: .schemaVersion),
      schemaVersionField: try values.decodeIfPresent(FieldName.self, forKey: .schemaVersionField),
      references: try values.decode([Reference].self, forKey: .references),
      naturalKey: try values.decodeIfPresent(NaturalKey.self, forKey: .naturalKey),
      indexes: try values.decode([FieldName].self, forKey: .indexes),
      stampField: try values.decodeIfPresent(FieldName.self, forKey: .stampField),
      stamping: isStamped ? .automatic : .none,
      immutable: try values.decodeIfPresent([FieldName].self, forKey: .immutable) ?? [],
      visibility: try values.decode(Visibility.self, forKey: .visibility))
  }

  /// Writes the declaration, without the traits of a remote.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(type, forKey: .type)
    try values.encode(schemaVersion, forKey: .schemaVersion)
    try values.encodeIfPresent(schemaVersionField, forKey: .schemaVersionField)
    try values.encode(references, forKey: .references)
    try values.encodeIfPresent(naturalKey, forKey: .naturalKey)
    try values.encode(indexes, forKey: .indexes)
    try values.encodeIfPresent(stampField, forKey: .stampField)
    if stamping == .none { try values.encode(false, forKey: .isStamped) }
    if !immutable.isEmpty { try values.encode(immutable, forKey: .immutable) }
    try values.encode(visibility, forKey: .visibility)
  }
}
