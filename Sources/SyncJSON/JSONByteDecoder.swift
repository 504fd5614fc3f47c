/// Decodes values from JSON, read strictly by ``JSONScanner``.
///
/// - The last copy of a repeated key counts, at every level. Keys compare by their UTF-8 bytes.
/// - Unknown members are ignored.
/// - Integers must be written without fraction and exponent, and fit. Doubles must fit: `1e999` is
///   an error.
/// - A missing or null member decodes as nil for an optional.
///
/// Every failure is a `DecodingError` that has the coding path and none of the values.
public struct JSONByteDecoder: Sendable {
  /// The most levels of nesting.
  public var depthLimit: Int
  /// Context that types may look up while they are decoded.
  public var userInfo: [CodingUserInfoKey: any Sendable]
  /// The forms of types that do not decode themselves.
  package var forms: (any JSONForms)?

  /// Creates a decoder.
  public init(
    depthLimit: Int = JSONScanner.defaultDepthLimit, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) {
    self.depthLimit = depthLimit
    self.userInfo = userInfo
  }

  /// Decodes one value from bytes.
  ///
  /// - Throws: `DecodingError`. If the bytes are not JSON, its underlying error is a ``JSONError``.
  ///   A type's own `init(from:)` may throw other errors.
  /// - Complexity: O(*n*) in the number of bytes, apart from the work of the types.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: ArraySlice<UInt8>) throws -> Value {
    let text = JSONText(userInfo: userInfo, forms: forms, learns: false)
    try read(bytes, into: text)
    return try JSONCursor(text: text, node: 0, path: nil).decode(type)
  }

  /// A member that an object gets where it lacks it.
  package struct Addition {
    let member: String
    let replacesNull: Bool
    let value: (String) -> [UInt8]?

    /// Creates an addition.
    ///
    /// - Parameters:
    ///   - member: The name of the member.
    ///   - replacesNull: Whether a member that is null counts as lacking.
    ///   - value: Returns its JSON value by the key of the record; `nil` for none.
    package init(_ member: String, replacesNull: Bool, value: @escaping (String) -> [UInt8]?) {
      self.member = member
      self.replacesNull = replacesNull
      self.value = value
    }
  }

  /// Decodes one object, and adds members that it lacks.
  ///
  /// - Parameters:
  ///   - key: The key of the record that the object is.
  ///   - habits: What the objects before had in common; `nil` for one object alone.
  package func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: ArraySlice<UInt8>, adding additions: [Addition], key: String,
    habits: JSONHabits?
  ) throws -> Value {
    let text = habits?.text(of: self) ?? JSONText(userInfo: userInfo, forms: forms, learns: false)
    try read(bytes, into: text)
    if !additions.isEmpty, text.kind(of: 0) == .object {
      let added = added(additions, to: text, key: key)
      if !added.isEmpty { try read(added, into: text) }
    }
    return try JSONCursor(text: text, node: 0, path: nil).decode(type)
  }

  /// An object with the members that it lacks; empty if it lacks none.
  private func added(_ additions: [Addition], to text: JSONText, key: String) -> ArraySlice<UInt8> {
    var added: [UInt8] = []
    for addition in additions {
      let node = text.value(of: addition.member, in: 0)
      if let node, !addition.replacesNull || text.kind(of: node) != .null { continue }
      guard let value = addition.value(key) else { continue }
      if text.nodes[0].next > 1 || !added.isEmpty { added.append(UInt8(ascii: ",")) }
      JSONString.append(addition.member, to: &added)
      added.append(UInt8(ascii: ":"))
      added.append(contentsOf: value)
    }
    if added.isEmpty { return [] }
    return text.content(of: 0).dropLast() + added
      + [UInt8(ascii: "}")]
  }

  private func read(_ bytes: ArraySlice<UInt8>, into text: JSONText) throws {
    do throws(JSONError) {
      try text.read(bytes, depthLimit: depthLimit)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "The bytes are not JSON.", underlyingError: error))
    }
  }
}
