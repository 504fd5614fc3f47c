/// A field that holds the key of a record of another or the same type.
public struct Reference: Hashable, Sendable, Codable {
  /// The field that holds the key, a string or null.
  public let field: FieldName
  /// The type of the target record.
  public let target: RecordType
  /// Whether the target must be visible first.
  ///
  /// A record appears only after the targets of its ordered references. An unordered reference
  /// implies no order and may dangle. It breaks a cycle between types.
  public let isOrdered: Bool

  /// Declares that a field refers to records of a type.
  public static func to(_ target: RecordType, by field: FieldName, ordered: Bool = true) -> Reference {
    Reference(field: field, target: target, isOrdered: ordered)
  }
}
