/// The fields that identify one thing in the world across records with different ids.
public struct NaturalKey: Hashable, Sendable, Codable {
  /// The fields of the key.
  ///
  /// A record with a null or missing one matches no other. Neither does one with a number that is
  /// not an integer of 64 bits and is 2⁵³ or more: such numbers may differ where a double does not.
  public let fields: [FieldName]
  /// The normalization of each value before values are compared.
  public let normalization: Normalization

  /// Declares a natural key.
  public init(_ fields: FieldName..., normalizedBy normalization: Normalization = .exact) {
    self.fields = fields
    self.normalization = normalization
  }

  /// The normalization of different spellings of a key.
  public enum Normalization: String, Hashable, Sendable, Codable {
    /// Values compare byte for byte.
    case exact
    /// ASCII letters compare without regard to case.
    case caseInsensitive
    /// Only ASCII letters and digits count, without regard to case.
    ///
    /// `AA:BB-0c` becomes `aabb0c`. Meant for hardware addresses.
    case alphanumeric
  }
}

extension NaturalKey {
  /// Declares a natural key of the fields in a list.
  package init(fields: [FieldName], normalization: Normalization) {
    self.fields = fields
    self.normalization = normalization
  }
}

extension Entity {
  /// A record's normalized natural key.
  ///
  /// `nil` if the type declares none, or if one of the fields is null or missing.
  public func naturalKey(of record: Record) -> String? {
    NaturalKeySpelling(self)?.key(of: record.fields)
  }
}

/// Computes the natural keys of many records of one type.
///
/// The positions of the fields are looked up once.
package struct NaturalKeySpelling: Sendable {
  private let places: [Int]
  private let normalization: NaturalKey.Normalization

  /// Creates the key computation of a type; `nil` for a type without natural key.
  package init?(_ entity: Entity) {
    guard let naturalKey = entity.naturalKey else { return nil }
    // Every field of the key is among the entity's fields.
    places = naturalKey.fields.compactMap(entity.fields.firstIndex)
    normalization = naturalKey.normalization
  }

  /// The natural key of a record with these values of the declared fields.
  package func key(of values: [FieldValue]) -> String? {
    var parts: [String] = []
    for place in places {
      guard place < values.count, let part = normalization.spelling(of: values[place]) else { return nil }
      parts.append(part)
    }
    // Length prefixes keep the parts apart, whatever they contain.
    return parts.count == 1
      ? parts[0]
      : parts.map { $0.utf8.count.description + ":" + $0 }.joined()
  }
}

extension NaturalKey.Normalization {
  /// The spelling of a value in a key; `nil` for a value that matches nothing.
  ///
  /// Values of different JSON types never match. One exception: a reference's whole number is
  /// spelled like the key that it names.
  func spelling(of value: FieldValue) -> String? {
    switch value {
    case .null, .composite: nil
    case .integer(let number): "#\(number)"
    // A greater one stands for many numbers, among them the greatest ids of 64 bits. Records that
    // share it are not therefore duplicates.
    case .double(let number) where !(number.magnitude < 0x1p53): nil
    case .double(let number): Int64(exactly: number).map { "#\($0)" } ?? "#\(number)"
    case .boolean(let value): value ? "#true" : "#false"
    case .string(let text): normalized(text).map { "=\($0)" }
    }
  }

  private func normalized(_ text: String) -> String? {
    switch self {
    case .exact: return text.isEmpty ? nil : text
    case .caseInsensitive:
      return text.isEmpty ? nil : String(decoding: text.utf8.map(\.lowercasedASCII), as: UTF8.self)
    case .alphanumeric:
      let bytes = text.utf8.map(\.lowercasedASCII).filter(\.isLowercaseAlphanumeric)
      return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
  }
}

extension UInt8 {
  fileprivate var lowercasedASCII: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self
  }

  fileprivate var isLowercaseAlphanumeric: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
  }
}
