/// Decodes values from JSON, strictly read by ``JSONScanner``.
///
/// - Of a key that repeats, the last one counts, at every level. Keys compare by their UTF-8 bytes.
/// - Unknown members are ignored.
/// - Integers must be written without fraction and exponent, and fit; so must doubles: `1e999` is an error.
/// - A member that is missing or null decodes as nil where an optional is asked for.
///
/// Every failure is a `DecodingError` that has the coding path and none of the values.
public struct JSONByteDecoder: Sendable {
  /// How deeply values may nest.
  public var depthLimit: Int
  /// What types may look up while they are decoded.
  public var userInfo: [CodingUserInfoKey: any Sendable]

  /// Creates a decoder.
  public init(
    depthLimit: Int = JSONScanner.defaultDepthLimit, userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) {
    self.depthLimit = depthLimit
    self.userInfo = userInfo
  }

  /// Decodes the one value that bytes are.
  ///
  /// - Throws: `DecodingError`; if the bytes are not JSON, its underlying error is a ``JSONError``. A type's own
  ///   `init(from:)` may throw others.
  /// - Complexity: O(*n*) in the number of bytes, beside what the types do.
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
