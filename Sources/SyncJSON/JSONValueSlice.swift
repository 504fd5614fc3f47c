/// One checked JSON value, as spelled in the text.
///
/// It shares the text's storage. Keeping ``bytes`` keeps the whole text in memory: copy them
/// instead.
public struct JSONValueSlice: Sendable {
  /// The kinds of JSON values.
  public enum Kind: Hashable, Sendable {
    /// Members in braces.
    case object
    /// Elements in brackets.
    case array
    /// Text in quotes.
    case string
    /// Digits, with an optional sign, fraction or exponent.
    case number
    /// The literal `true`.
    case `true`
    /// The literal `false`.
    case `false`
    /// The literal `null`.
    case null
  }

  /// The kind of the value.
  public let kind: Kind
  /// The value as written, with quotes and brackets, without white space around it.
  public let bytes: ArraySlice<UInt8>
  private let hasEscapes: Bool

  package init(document: ArraySlice<UInt8>, token: JSONToken) {
    kind = token.kind
    bytes = document[document.startIndex + token.start..<document.startIndex + token.end]
    hasEscapes = token.hasEscapes
  }

  /// Checks that bytes are one whole value, with optional white space around it.
  ///
  /// - Throws: ``JSONError`` for the first error.
  public init(
    checking bytes: ArraySlice<UInt8>, depthLimit: Int = JSONScanner.defaultDepthLimit
  ) throws(JSONError) {
    let token = try JSONScanner.wholeValue(in: bytes, depthLimit: depthLimit)
    self.init(document: bytes, token: token)
  }

  /// The text of a string with its escapes resolved; nil for other kinds.
  ///
  /// A surrogate escape without its partner reads as U+FFFD.
  public func string() -> String? {
    guard kind == .string else { return nil }
    return JSONString.decoded(bytes.dropFirst().dropLast(), hasEscapes: hasEscapes)
  }

  /// Whether it is a string with an escape for half of a surrogate pair, without the other half.
  ///
  /// Several such strings read as the same text, so it is no name of anything.
  package var hasHalfCharacter: Bool {
    kind == .string && hasEscapes && UnportableJSON(in: bytes) == .halfCharacter
  }

  /// The UTF-8 bytes of a string with its escapes resolved, or of another value as written.
  package var content: ArraySlice<UInt8> {
    guard kind == .string else { return bytes }
    let raw = bytes[bytes.startIndex + 1..<bytes.endIndex - 1]
    return hasEscapes ? JSONString.unescaped(raw)[...] : raw
  }

  /// The value of a number without fraction and exponent, if it fits; otherwise nil.
  public func integer() -> Int64? {
    guard kind == .number else { return nil }
    return JSONNumber.integer(Int64.self, from: bytes.span)
  }

  /// The value of a number, correctly rounded; nil for other kinds.
  ///
  /// A number past the greatest double is infinity. A number too small for a double is zero.
  public func double() -> Double? {
    guard kind == .number else { return nil }
    return JSONNumber.double(from: bytes.span)
  }

  /// The value of `true` or `false`; nil for other kinds.
  public func bool() -> Bool? {
    switch kind {
    case .true: true
    case .false: false
    default: nil
    }
  }

  /// Whether it is the literal `null`.
  public var isNull: Bool { kind == .null }
}
