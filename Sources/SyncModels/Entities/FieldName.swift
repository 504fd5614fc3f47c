/// The name of a top-level member of a record's JSON object.
public struct FieldName: RawRepresentable, Hashable, Sendable, Codable {
  /// The member's name, compared by its UTF-8 bytes.
  public let rawValue: String

  /// Names a member; the name is checked when it is declared in an ``SyncSchema``.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Names a member; the name is checked when it is declared in an ``SyncSchema``.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Whether two names are the same, byte for byte.
  public static func == (a: FieldName, b: FieldName) -> Bool {
    a.rawValue.isSameUTF8(as: b.rawValue)
  }
}

extension FieldName: ExpressibleByStringLiteral, CustomStringConvertible {
  /// Names a member by a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The name itself.
  public var description: String { rawValue }
}
