/// The name of one kind of record, such as `games`: a collection at the remote, a table in the store.
///
/// A type's name starts with an ASCII letter, a digit or an underscore, goes on with those and hyphens, and has
/// at most 64 bytes. ``SyncSchema`` checks that once, when types are declared.
public struct RecordType: RawRepresentable, Hashable, Sendable, Codable {
  /// The name as the remote and the store spell it.
  public let rawValue: String

  /// Names a record type; the name is checked when the type is declared in an ``SyncSchema``.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Names a record type; the name is checked when the type is declared in an ``SyncSchema``.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Whether two types have the same name, byte for byte.
  public static func == (a: RecordType, b: RecordType) -> Bool {
    a.rawValue.isSameUTF8(as: b.rawValue)
  }
}

extension RecordType: ExpressibleByStringLiteral, CustomStringConvertible, Comparable {
  /// Names a record type by a literal.
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
