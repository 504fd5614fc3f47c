/// One entry of a page: a copy, a tombstone or a malformed record.
public enum RecordChange: Hashable, Sendable, Codable {
  /// The current copy of a record that exists at the remote.
  case upsert(Record)
  /// The record was deleted at the remote.
  case tombstone(Tombstone)
  /// Bytes that are not a record. They are withheld with the reason.
  case malformed(MalformedRecord)

  /// The id of the record, if it is known.
  public var id: RecordID? {
    switch self {
    case .upsert(let record): record.id
    case .tombstone(let tombstone): tombstone.id
    case .malformed(let malformed): malformed.id
    }
  }

  /// Whether the change is of a record whose key is empty.
  fileprivate var isNameless: Bool {
    switch self {
    case .upsert(let record): record.id.key.isEmpty
    case .tombstone(let tombstone): tombstone.id.key.isEmpty
    case .malformed(let malformed): malformed.id?.key.isEmpty ?? false
    }
  }

  /// The change; the malformed record that it is, if its key is empty.
  fileprivate var named: RecordChange {
    guard isNameless, let id else { return self }
    var bytes = Payload([])
    switch self {
    case .upsert(let record): bytes = record.payload
    case .malformed(let malformed): bytes = malformed.bytes
    case .tombstone: break
    }
    return .malformed(MalformedRecord(type: id.type, bytes: bytes, reason: "has an empty key"))
  }

  /// The change as stores keep it in edits and conflicts: a copy without its fields.
  public var withoutFields: RecordChange {
    guard case .upsert(var copy) = self else { return self }
    copy.fields = []
    return .upsert(copy)
  }
}

extension [RecordChange] {
  /// The changes, with malformed records in place of those whose key is empty.
  ///
  /// No store and no edit has a record without a key.
  package var named: [RecordChange] {
    // By place: a change that is handed on is a copy.
    for place in indices where self[place].isNameless { return map(\.named) }
    return self
  }
}

/// A record's deletion at the remote.
public struct Tombstone: Hashable, Sendable, Codable {
  /// The id of the deleted record.
  public let id: RecordID
  /// The deletion's place in the remote's order of changes.
  public var version: Version
  /// The remote's opaque name for this state, if it has one.
  public var entityTag: String?
  /// The stamp of the edit that deleted the record, if the remote keeps it.
  ///
  /// Without one, a deletion counts as written when it arrived at the remote.
  public var stamp: EditStamp?

  /// Creates a tombstone.
  public init(id: RecordID, version: Version, entityTag: String? = nil, stamp: EditStamp? = nil) {
    self.id = id
    self.version = version
    self.entityTag = entityTag
    self.stamp = stamp
  }
}

/// Bytes that a source could not read as a record.
public struct MalformedRecord: Hashable, Sendable, Codable {
  /// The type whose page held the bytes.
  public let type: RecordType
  /// The record's key, if it could be determined.
  public let key: String?
  /// The bytes as received.
  public let bytes: Payload
  /// The flaw, described without quoting the bytes.
  public let reason: String
  /// Where the bytes were found, such as a file and a line.
  ///
  /// `nil` if the source knows no place within the page.
  public let location: String?

  /// The id of the record, if its key could be determined.
  public var id: RecordID? { key.map { RecordID(type: type, key: $0) } }

  /// Creates a malformed record.
  public init(type: RecordType, key: String? = nil, bytes: Payload, reason: String, location: String? = nil) {
    self.type = type
    self.key = key
    self.bytes = bytes
    self.reason = reason
    self.location = location
  }
}
