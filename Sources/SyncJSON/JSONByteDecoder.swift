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
    let text: JSONText
    do throws(JSONError) {
      text = try JSONText(bytes, depthLimit: depthLimit, userInfo: userInfo)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "The bytes are not JSON.", underlyingError: error))
    }
    return try JSONCursor(text: text, node: 0, path: nil).decode(type)
  }
}
