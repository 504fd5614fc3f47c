/// Why bytes are not the JSON that was asked for, and where.
///
/// Neither the error nor its description holds any of the bytes: descriptions end up in logs.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was wrong at the offset.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// The bytes end inside a value, or hold none.
    case unexpectedEnd = "ends too early"
    /// A byte that cannot stand where it stands.
    case unexpectedByte = "has a byte that cannot stand there"
    /// Something follows the value.
    case trailingBytes = "goes on after its end"
    /// A number that the grammar does not know, such as `01` or `1.`.
    case invalidNumber = "has a number that is none"
    /// A backslash followed by something else than an escape.
    case invalidEscape = "has an escape that is none"
    /// A control character inside a string that should have been escaped.
    case controlCharacter = "has a control character in a string"
    /// Bytes inside a string that are no UTF-8.
    case invalidUTF8 = "has bytes in a string that are no UTF-8"
    /// Objects and arrays inside one another, past the limit.
    case nestedTooDeeply = "nests too deeply"
    /// A value of another kind where an object was asked for.
    case notAnObject = "is no JSON object"
    /// A value of another kind where an array was asked for.
    case notAnArray = "is no JSON array"
  }

  /// What was wrong.
  public var reason: Reason
  /// Where, in bytes from the start of what was scanned.
  public var offset: Int

  /// Creates an error.
  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }

  /// The reason and the offset, as the end of a sentence about the bytes.
  public var description: String { "\(reason.rawValue), at byte \(offset)" }
}
