/// An error in JSON text: the reason and the offset.
///
/// Neither the error nor its description holds any of the bytes: descriptions end up in logs.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of errors in JSON text.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The bytes end inside a value, or hold none.
    case unexpectedEnd = "ends too early"
    /// A byte that the grammar does not allow at its position.
    case unexpectedByte = "has an unexpected byte"
    /// Bytes other than white space follow the value.
    case trailingBytes = "has bytes after its end"
    /// A number outside the grammar, such as `01` or `1.`.
    case invalidNumber = "has an invalid number"
    /// A backslash without a valid escape.
    case invalidEscape = "has an invalid escape"
    /// An unescaped control character inside a string.
    case controlCharacter = "has a control character in a string"
    /// Bytes inside a string that are not UTF-8.
    case invalidUTF8 = "has bytes in a string that are not UTF-8"
    /// Objects and arrays nested beyond the limit.
    case nestedTooDeeply = "nests too deeply"
    /// A value of another kind in place of an object.
    case notAnObject = "is not a JSON object"
    /// A value of another kind in place of an array.
    case notAnArray = "is not a JSON array"
  }

  /// The kind of error.
  public var reason: Reason
  /// The offset in bytes from the start of the scanned bytes.
  public var offset: Int

  /// Creates an error.
  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// The reason and the offset, as the end of a sentence about the bytes.
  public var description: String { "\(reason.rawValue), at byte \(offset)" }
}
