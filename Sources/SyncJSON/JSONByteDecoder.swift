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

  /// Decodes one object, and adds a member that it lacks.
  ///
  /// - Parameter value: The JSON value of the added member.
  package func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: ArraySlice<UInt8>, addingIfAbsent member: String, _ value: [UInt8]
  ) throws -> Value {
    let text = try text(of: bytes)
    let cursor = JSONCursor(text: text, node: 0, path: nil)
    guard text.kind(of: 0) == .object, try JSONObject(cursor).value(of: member) == nil else {
      return try cursor.decode(type)
    }
    let object = text.nodes[0]
    var extended = Array(
      bytes[bytes.startIndex + object.token.start..<bytes.startIndex + object.token.end - 1])
    if object.next > 1 { extended.append(UInt8(ascii: ",")) }
    JSONString.append(member, to: &extended)
    extended.append(UInt8(ascii: ":"))
    extended.append(contentsOf: value)
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
