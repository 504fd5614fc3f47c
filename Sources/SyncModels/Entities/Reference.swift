/// A field that holds the key of a record of another type, or of the same.
public struct Reference: Hashable, Sendable, Codable {
  /// The field that holds the key, a string or null.
  public let field: FieldName
  /// The type of the record referred to.
  public let target: RecordType
  /// Whether the target has to be there first.
  ///
  /// A record is not shown before the targets of its ordered references. An unordered one says nothing of order, may dangle, and
  /// is how a cycle between types is broken.
  public let isOrdered: Bool

  /// Declares that a field refers to records of a type.
  public static func to(_ target: RecordType, by field: FieldName, ordered: Bool = true) -> Reference {
    Reference(field: field, target: target, isOrdered: ordered)
  }
}
