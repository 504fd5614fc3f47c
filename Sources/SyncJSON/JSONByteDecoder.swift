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
    try JSONCursor(text: text(of: bytes), node: 0, path: nil).decode(type)
  }

  /// A member that an object gets where it lacks it.
  package struct Addition {
    let member: String
    let value: [UInt8]
    let replacesNull: Bool

    /// Creates an addition.
    ///
    /// - Parameters:
    ///   - member: The name of the member.
    ///   - value: Its JSON value.
    ///   - replacesNull: Whether a member that is null counts as lacking.
    package init(_ member: String, _ value: [UInt8], replacesNull: Bool) {
      self.member = member
      self.value = value
      self.replacesNull = replacesNull
    }
  }

  /// Decodes one object, and adds members that it lacks.
  package func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: ArraySlice<UInt8>, adding additions: [Addition]
  ) throws -> Value {
    let text = try text(of: bytes)
    let cursor = JSONCursor(text: text, node: 0, path: nil)
    guard !additions.isEmpty, text.kind(of: 0) == .object else { return try cursor.decode(type) }
    let object = try JSONObject(cursor)
    let lacking = additions.filter { addition in
      (addition.replacesNull ? object.presentValue(of: addition.member) : object.value(of: addition.member))
        == nil
    }
    if lacking.isEmpty { return try cursor.decode(type) }
    let root = text.nodes[0]
    var extended = Array(bytes[bytes.startIndex + root.token.start..<bytes.startIndex + root.token.end - 1])
    for addition in lacking {
      if root.next > 1 || addition.member != lacking[0].member { extended.append(UInt8(ascii: ",")) }
      JSONString.append(addition.member, to: &extended)
      extended.append(UInt8(ascii: ":"))
      extended.append(contentsOf: addition.value)
    }
    extended.append(UInt8(ascii: "}"))
    return try decode(type, from: extended[...])
  }

  private func text(of bytes: ArraySlice<UInt8>) throws -> JSONText {
    do throws(JSONError) {
      return try JSONText(bytes, depthLimit: depthLimit, userInfo: userInfo, forms: forms)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "The bytes are not JSON.", underlyingError: error))
    }
  }
}
