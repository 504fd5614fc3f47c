/// Encodes values as compact JSON.
///
/// - Members keep the order in which they were encoded. A dictionary chooses its own order.
/// - An optional that is nil is absent if the type uses `encodeIfPresent`, as synthesised code
///   does.
/// - A double has the shortest spelling that reads back equal, a whole one without fraction.
///   Infinity and NaN are errors.
/// - A type that encodes nothing becomes an empty object.
/// - A key that a type encodes twice is written twice. ``JSONByteDecoder`` reads the last one.
public struct JSONByteEncoder: Sendable {
  /// Context that types may look up while they are encoded.
  public var userInfo: [CodingUserInfoKey: any Sendable]
  /// The forms of types that do not encode themselves.
  package var forms: (any JSONForms)?

  /// Creates an encoder.
  public init(userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
    self.userInfo = userInfo
  }

  /// Requests null for each optional that is nil, so that every member appears.
  static let spellsNil = CodingUserInfoKey(rawValue: "CanonicalSync.spellsNil")

  /// Encodes one value, with null for each optional that would be absent.
  ///
  /// - Throws: The errors of ``encode(_:)``.
  package func encodeSpellingNil<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    var encoder = self
    if let mark = Self.spellsNil { encoder.userInfo[mark] = true }
    return try encoder.encode(value)
  }

  /// Encodes one value.
  ///
  /// - Throws: `EncodingError` for a number that JSON cannot spell, or for a type that requests
  ///   containers of different kinds in one place; any error of the type's own `encode(to:)`.
  public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    let draft = JSONDraft(userInfo: userInfo, forms: forms, path: nil)
    try value.encode(to: JSONPen(draft: draft))
    return try draft.finished()
  }
}
