import SyncJSON

/// The identity of a record: its type, and its key within the type.
///
/// The client or the remote chooses the key. A key is never empty. Keys compare, hash and sort by
/// their UTF-8 bytes.
public struct RecordID: Hashable, Sendable, Codable {
  /// The record's type.
  public let type: RecordType
  /// The key, unique within the type.
  public let key: String

  /// Creates an id.
  public init(type: RecordType, key: String) {
    self.type = type
    self.key = key
  }

  /// Whether two ids have the same type and the same key, byte for byte.
  public static func == (a: RecordID, b: RecordID) -> Bool {
    a.key.isSameUTF8(as: b.key) && a.type == b.type
  }

  /// Hashes the key alone: most collections hold records of one type.
  public func hash(into hasher: inout Hasher) {
    key.hashUTF8(into: &hasher)
  }
}

extension RecordID: Comparable, CustomStringConvertible {
  /// Orders by type, then by key, each by UTF-8 bytes.
  public static func < (a: RecordID, b: RecordID) -> Bool {
    a.type == b.type ? a.key.precedesByUTF8(b.key) : a.type < b.type
  }

  /// The type and the key, as in `games/2026-04-01`.
  public var description: String { "\(type)/\(key)" }
}
