import SyncJSON

/// The name of one kind of record, such as `games`.
///
/// It is a collection at the remote and a table in the store. A name starts with an ASCII letter, a
/// digit or an underscore, continues with those and hyphens, and has at most 64 bytes.
/// ``SyncSchema`` checks the name when the type is declared.
public struct RecordType: RawRepresentable, Hashable, Sendable, Codable {
  /// The name as the remote and the store spell it.
  public let rawValue: String

  /// Creates a name. A ``SyncSchema`` checks it.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Creates a name. A ``SyncSchema`` checks it.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Whether two names are equal, byte for byte.
  public static func == (a: RecordType, b: RecordType) -> Bool {
    a.rawValue.isSameUTF8(as: b.rawValue)
  }

  /// Hashes the UTF-8 bytes.
  public func hash(into hasher: inout Hasher) { rawValue.hashUTF8(into: &hasher) }
}

extension RecordType: ExpressibleByStringLiteral, CustomStringConvertible, Comparable {
  /// Creates a name from a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The name itself.
  public var description: String { rawValue }

  /// Orders types by the UTF-8 bytes of their names.
  public static func < (a: RecordType, b: RecordType) -> Bool {
    a.rawValue.precedesByUTF8(b.rawValue)
  }
}
