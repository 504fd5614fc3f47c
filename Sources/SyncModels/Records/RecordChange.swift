/// One entry of a page: a record's new copy, its deletion, or bytes that could not be read as either.
public enum RecordChange: Hashable, Sendable {
  /// The record exists at the remote, and this is its copy.
  case upsert(Record)
  /// The record was deleted at the remote.
  case tombstone(Tombstone)
  /// The remote sent something that is no record; it is set aside with its bytes and the reason.
  case malformed(MalformedRecord)

  /// The record concerned, where that is known.
  public var id: RecordID? {
    switch self {
    case .upsert(let record): record.id
    case .tombstone(let tombstone): tombstone.id
    case .malformed(let malformed): malformed.id
    }
  }
}

/// The remote's word that a record was deleted.
public struct Tombstone: Hashable, Sendable {
  /// Which record was deleted.
  public let id: RecordID
  /// The deletion's place in the remote's order of changes.
  public var version: Version
  /// The remote's opaque name for this state, where it has one.
  public var entityTag: String?

  /// Describes a deletion.
  public init(id: RecordID, version: Version, entityTag: String? = nil) {
    self.id = id
    self.version = version
    self.entityTag = entityTag
  }
}

/// Bytes that a source could not read as a record.
public struct MalformedRecord: Hashable, Sendable {
  /// The type whose page held the bytes.
  public let type: RecordType
  /// The record's key, where it could be made out in spite of all.
  public let key: String?
  /// The bytes as they came.
  public let bytes: Payload
  /// What is wrong with them, without quoting them.
  public let reason: String
  /// Where they were found, such as a file and a line; `nil` where the page's position says nothing.
  public let location: String?

  /// The record concerned, where its key could be made out.
  public var id: RecordID? { key.map { RecordID(type: type, key: $0) } }

  /// Describes bytes that are no record.
  public init(type: RecordType, key: String? = nil, bytes: Payload, reason: String, location: String? = nil) {
    self.type = type
    self.key = key
    self.bytes = bytes
    self.reason = reason
    self.location = location
  }
}
