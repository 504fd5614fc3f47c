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
    try JSONCursor(text: text(of: bytes, nil), node: 0, path: nil).decode(type)
  }

  /// A member that an object gets where it lacks it.
  package struct Addition {
    let member: String
    let replacesNull: Bool
    let value: () -> [UInt8]?

    /// Creates an addition.
    ///
    /// - Parameters:
    ///   - member: The name of the member.
    ///   - replacesNull: Whether a member that is null counts as lacking.
    ///   - value: Returns its JSON value; `nil` for none.
    package init(_ member: String, replacesNull: Bool, value: @escaping () -> [UInt8]?) {
      self.member = member
      self.replacesNull = replacesNull
      self.value = value
    }
  }

  /// Decodes one object, and adds members that it lacks.
  ///
  /// - Parameter habits: What the objects before had in common; `nil` for one object alone.
  package func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: ArraySlice<UInt8>, adding additions: [Addition], habits: JSONHabits?
  ) throws -> Value {
    let text = try text(of: bytes, habits)
    let cursor = JSONCursor(text: text, node: 0, path: nil)
    guard !additions.isEmpty, text.kind(of: 0) == .object else { return try cursor.decode(type) }
    let members = 1..<text.nodes[0].next
    var added: [UInt8] = []
    for addition in additions {
      let node = text.member(addition.member, in: members)
      if let node, !addition.replacesNull || text.kind(of: node + 1) != .null { continue }
      guard let value = addition.value() else { continue }
      if !members.isEmpty || !added.isEmpty { added.append(UInt8(ascii: ",")) }
      JSONString.append(addition.member, to: &added)
      added.append(UInt8(ascii: ":"))
      added.append(contentsOf: value)
    }
    if added.isEmpty { return try cursor.decode(type) }
    let root = text.nodes[0].token
    let extended =
      bytes[bytes.startIndex + root.start..<bytes.startIndex + root.end - 1] + added + [UInt8(ascii: "}")]
    return try JSONCursor(text: self.text(of: extended, habits), node: 0, path: nil).decode(type)
  }

  private func text(of bytes: ArraySlice<UInt8>, _ habits: JSONHabits?) throws -> JSONText {
    do throws(JSONError) {
      return try JSONText(bytes, depthLimit: depthLimit, userInfo: userInfo, forms: forms, habits: habits)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "The bytes are not JSON.", underlyingError: error))
    }
  }
}
