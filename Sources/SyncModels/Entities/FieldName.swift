import SyncJSON

/// The name of a top-level member of a record's JSON object.
public struct FieldName: RawRepresentable, Hashable, Sendable, Codable {
  /// The member's name, compared by its UTF-8 bytes.
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
  public static func == (a: FieldName, b: FieldName) -> Bool {
    a.rawValue.isSameUTF8(as: b.rawValue)
  }

  /// Hashes the UTF-8 bytes.
  public func hash(into hasher: inout Hasher) { rawValue.hashUTF8(into: &hasher) }
}

extension FieldName: ExpressibleByStringLiteral, CustomStringConvertible {
  /// Creates a name from a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The name itself.
  public var description: String { rawValue }
}
