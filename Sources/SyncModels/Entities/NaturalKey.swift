/// The fields that make two records the same thing in the world, whatever their ids.
public struct NaturalKey: Hashable, Sendable, Codable {
  /// The fields that the key is made of; one that is null or missing makes the record match nothing.
  public let fields: [FieldName]
  /// What is done to each value before values are compared.
  public let normalization: Normalization

  /// Declares a natural key.
  public init(_ fields: FieldName..., normalizedBy normalization: Normalization = .exact) {
    self.fields = fields
    self.normalization = normalization
  }

  /// How spellings of one key are made alike.
  public enum Normalization: String, Hashable, Sendable, Codable {
    /// Values compare byte for byte.
    case exact
    /// ASCII letters compare without regard to case.
    case caseInsensitive
    /// ASCII letters and digits only, without regard to case: `AA:BB-0c` is `aabb0c`. Meant for hardware addresses.
    case alphanumeric
  }
}
