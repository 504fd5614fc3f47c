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

extension NaturalKey {
  /// Declares a natural key of fields that are in a list.
  package init(fields: [FieldName], normalization: Normalization) {
    self.fields = fields
    self.normalization = normalization
  }
}

extension Entity {
  /// A record's natural key as records are compared by it: normalized, of all its fields; `nil` where one is missing or the type has none.
  public func naturalKey(of record: Record) -> String? {
    NaturalKeySpelling(self)?.key(of: record.fields)
  }
}

/// Spells the natural keys of one type's records, for many of them: where the fields stand is found out once.
package struct NaturalKeySpelling: Sendable {
  private let places: [Int]
  private let normalization: NaturalKey.Normalization

  /// The spelling that a type declares, if it does.
  package init?(_ entity: Entity) {
    guard let naturalKey = entity.naturalKey else { return nil }
    // Every field of the key is among the entity's.
    places = naturalKey.fields.compactMap(entity.fields.firstIndex)
    normalization = naturalKey.normalization
  }

  /// The natural key of a record whose declared fields have these values.
  package func key(of values: [FieldValue]) -> String? {
    var parts: [String] = []
    for place in places {
      guard place < values.count, let part = normalization.spelling(of: values[place]) else { return nil }
      parts.append(part)
    }
    // Lengths keep parts apart whatever they hold.
    return parts.count == 1
      ? parts[0]
      : parts.map { $0.utf8.count.description + ":" + $0 }.joined()
  }
}

extension NaturalKey.Normalization {
  /// How a value is written in a key; `nil` for one that matches nothing.
  ///
  /// Values of different JSON types never match, except that a reference's whole number is the key it names.
  func spelling(of value: FieldValue) -> String? {
    switch value {
    case .null, .composite: nil
    case .integer(let number): "#\(number)"
    case .double(let number): Int64(exactly: number).map { "#\($0)" } ?? (number.isNaN ? nil : "#\(number)")
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
