/// Encodes values as compact JSON.
///
/// - Members stand in the order they were encoded. What a dictionary's order is, is the dictionary's business.
/// - An optional that is nil is absent where a type encodes it with `encodeIfPresent`, as synthesised code does.
/// - Doubles are written as shortly as reads back equal, whole ones without a fraction. Infinity and NaN are errors.
/// - A type that encodes nothing is an empty object.
/// - A key that a type encodes twice is written twice; whoever reads it with ``JSONByteDecoder`` gets the last one.
public struct JSONByteEncoder: Sendable {
  /// What types may look up while they are encoded.
  public var userInfo: [CodingUserInfoKey: any Sendable]

  /// Creates an encoder.
  public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.userInfo = userInfo
  }

  /// Asks for null where an optional is nil, so that every member of a type is told.
  static let spellsNil = CodingUserInfoKey(rawValue: "CanonicalSync.spellsNil")

  /// Encodes one value, with null for each optional that is nil and would be absent.
  ///
  /// - Throws: As ``encode(_:)``.
  package func encodeSpellingNil<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    var encoder = self
    if let mark = Self.spellsNil { encoder.userInfo[mark] = true }
    return try encoder.encode(value)
  }

  /// Encodes one value.
  ///
  /// - Throws: `EncodingError` for a number that JSON has no spelling for, or for a type that asks for containers of
  ///   different kinds in one place; whatever the type's own `encode(to:)` throws.
  public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    let draft = JSONDraft(userInfo: userInfo, path: nil)
    try value.encode(to: JSONPen(draft: draft))
    return try draft.finished()
  }
}
