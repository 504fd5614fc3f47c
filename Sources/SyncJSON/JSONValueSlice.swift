/// One checked JSON value, as it stands in the text.
///
/// It shares the text's storage. Keep ``bytes`` of it for long, and the whole text stays in memory: copy them.
public struct JSONValueSlice: Sendable {
  /// The kinds of JSON values.
  public enum Kind: Hashable, Sendable {
    /// Members in braces.
    case object
    /// Elements in brackets.
    case array
    /// Text in quotes.
    case string
    /// Digits, with a sign, fraction or exponent at will.
    case number
    /// The literal `true`.
    case `true`
    /// The literal `false`.
    case `false`
    /// The literal `null`.
    case null
  }

  /// What kind of value it is.
  public let kind: Kind
  /// The value as written, quotes and brackets included, white space around it not.
  public let bytes: ArraySlice<UInt8>
  private let hasEscapes: Bool

  package init(document: ArraySlice<UInt8>, token: JSONToken) {
    kind = token.kind
    bytes = document[document.startIndex + token.start..<document.startIndex + token.end]
    hasEscapes = token.hasEscapes
  }

  /// Checks bytes that are one whole value, with white space around it at most.
  ///
  /// - Throws: ``JSONError`` with the first thing that is wrong.
  public init(
    checking bytes: ArraySlice<UInt8>, depthLimit: Int = JSONScanner.defaultDepthLimit
  ) throws(JSONError) {
    let token = try JSONScanner.wholeValue(in: bytes, depthLimit: depthLimit)
    self.init(document: bytes, token: token)
  }

  /// The text of a string, its escapes resolved; nil for other kinds.
  ///
  /// A surrogate escape without its partner reads as U+FFFD.
  public func string() -> String? {
    guard kind == .string else { return nil }
    return JSONString.decoded(bytes.dropFirst().dropLast(), hasEscapes: hasEscapes)
  }

  /// The value of a number written without fraction and exponent, if it fits; nil otherwise.
  public func integer() -> Int64? {
    guard kind == .number else { return nil }
    return JSONNumber.integer(Int64.self, from: bytes.span)
  }

  /// The value of a number, correctly rounded; nil for other kinds.
  ///
  /// What lies past the greatest double is infinity, and what is too small for any is zero.
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

  /// Tells whether it is the literal `null`.
  public var isNull: Bool { kind == .null }
}
