/// The identity of a record: its type, and the key that is unique within the type.
///
/// Keys are chosen by the client or the remote, never empty, and compare, hash and sort by their UTF-8 bytes.
public struct RecordID: Hashable, Sendable, Codable {
  /// The record's type.
  public let type: RecordType
  /// The key, unique within the type.
  public let key: String

  /// Identifies a record.
  public init(type: RecordType, key: String) {
    self.type = type
    self.key = key
  }

  /// Whether two identities have the same type and the same key, byte for byte.
  public static func == (a: RecordID, b: RecordID) -> Bool {
    a.key.isSameUTF8(as: b.key) && a.type == b.type
  }

  /// Hashes the key: records that meet in one collection are mostly of one type.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(key)
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
