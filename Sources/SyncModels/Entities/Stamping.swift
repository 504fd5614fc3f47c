import SyncJSON

/// Where the stamps of a type's edits travel with its records.
///
/// Last-write-wins compares edits by when they were made, as far as the records say so, and otherwise by when they arrived at the remote.
public enum Stamping: Hashable, Sendable {
  /// In the member ``FieldName/editStamp``, where the remote keeps members that it does not know; the default.
  ///
  /// The member holds a digest of the others beside the stamp. A copy that another writer changed without a new stamp counts as written
  /// when the remote took it.
  case automatic
  /// In a member of the app's choice, which holds the stamp alone and which every writer keeps up.
  case field(FieldName)
  /// Nowhere: edits count as made when they arrived at the remote.
  case none
}

extension FieldName {
  /// The member of a record in which the library stamps edits by itself; see ``Stamping/automatic``.
  public static let editStamp: FieldName = "canonicalSyncStamp"
}

extension Entity {
  /// The field of the app's choice that edits are stamped in, if it chose one.
  public var stampField: FieldName? {
    if case .field(let field) = stamping { field } else { nil }
  }

  /// When a record's edit was made, as its payload says; `nil` where it does not, or is no longer what was edited then.
  package func stamp(in payload: Payload) -> EditStamp? {
    switch stamping {
    case .automatic: EditStamp(carriedBy: payload, ignoring: remote.serverManagedFields)
    case .field(let field): EditStamp(in: field, of: payload)
    case .none: nil
    }
  }

  /// The last stamp that a payload mentions, whether it is still that of the record or not.
  package func statedStamp(in payload: Payload) -> EditStamp? {
    switch stamping {
    case .automatic: EditStamp(statedBy: payload)
    case .field(let field): EditStamp(in: field, of: payload)
    case .none: nil
    }
  }

  /// The member that may hold the stamps of a type that is edited, to be looked for.
  package var stampMember: MemberMention? {
    switch stamping {
    case .automatic: remote.keepsUnknownMembers ? .editStamp : nil
    case .field(let field): MemberMention(field)
    case .none: nil
    }
  }

  /// The payload with the stamp of an edit, where stamps travel with the records.
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

  /// What is known of the remote that a type is synced with.
  package struct RemoteTraits: Hashable, Sendable {
    /// The members that the remote writes itself, whatever it is sent.
    package var serverManagedFields: [FieldName] = []
    /// Whether edits are sent to it with members that nobody declared, and come back with them.
    package var keepsUnknownMembers = false

    /// Describes a remote.
    package init(serverManagedFields: [FieldName] = [], keepsUnknownMembers: Bool = false) {
      self.serverManagedFields = serverManagedFields
      self.keepsUnknownMembers = keepsUnknownMembers
    }

    /// Always: one declaration stays the same one, whatever it is synced with.
    package static func == (_: RemoteTraits, _: RemoteTraits) -> Bool { true }

    /// Adds nothing.
    package func hash(into hasher: inout Hasher) {}
  }
}

// Declarations are kept in stores: what older ones lack, or hold otherwise, reads as its default.
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

  /// Writes the declaration, without what is known of a remote.
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
