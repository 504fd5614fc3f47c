/// Reads JSON text strictly (RFC 8259), without copying its bytes.
///
/// A scan checks every byte that it passes: the grammar, UTF-8 inside strings, escapes, numbers,
/// and the levels of nesting. No input makes it trap. Surrogate escapes without their partner are
/// accepted, as in the RFC's grammar, and read as U+FFFD. Keys may repeat. Every copy is visited in
/// order, so assigning each one keeps the last.
///
/// Offsets in errors count from the first byte of the input.
public enum JSONScanner {
  /// The default limit on nested objects and arrays.
  public static let defaultDepthLimit = 64

  /// Checks that bytes are one whole value, with optional white space around it.
  ///
  /// - Throws: ``JSONError`` for the first error.
  /// - Complexity: O(*n*), without allocation down to a depth of 64.
  public static func validate(
    _ bytes: ArraySlice<UInt8>, depthLimit: Int = defaultDepthLimit
  ) throws(JSONError) {
    _ = try wholeValue(in: bytes, depthLimit: depthLimit)
  }

  /// Visits the members of one object in the order of the text.
  ///
  /// One pass visits and checks. A member has been checked when `body` receives it; the text after
  /// it has not. If the call throws, discard everything learned from the members.
  ///
  /// - Parameters:
  ///   - bytes: One whole object, with optional white space around it.
  ///   - depthLimit: The most levels of nesting; the object itself is the first level.
  ///   - body: Called once for each member. An error that it throws ends the pass.
  /// - Throws: ``JSONError`` for the first error, or the error that `body` threw.
  /// - Complexity: O(*n*), without allocation for each member.
  public static func members(
    of bytes: ArraySlice<UInt8>, depthLimit: Int = defaultDepthLimit,
    _ body: (JSONMember) throws(JSONError) -> Void
  ) throws(JSONError) {
    let text = bytes.span
    var offset = try enter(UInt8(ascii: "{"), of: text, depthLimit: depthLimit, orElse: .notAnObject)
    if byte(at: offset, of: text) == UInt8(ascii: "}") { return try end(after: offset + 1, of: text) }
    while true {
      let key = try key(at: offset, of: text)
      var nothing = NoEvents()
      let value = try value(at: key.next, of: text, depthLimit: depthLimit - 1, events: &nothing)
      try body(JSONMember(document: bytes, key: key.token, value: value))
      offset = skipWhitespace(from: value.end, of: text)
      switch byte(at: offset, of: text) {
      case UInt8(ascii: ","): offset = skipWhitespace(from: offset + 1, of: text)
      case UInt8(ascii: "}"): return try end(after: offset + 1, of: text)
      default: throw unexpected(at: offset, of: text)
      }
    }
  }

  /// Visits the elements of one array in order.
  ///
  /// As with ``members(of:depthLimit:_:)``, an element has been checked when `body` receives it;
  /// the text after it has not.
  ///
  /// - Parameters:
  ///   - bytes: One whole array, with optional white space around it.
  ///   - depthLimit: The most levels of nesting; the array itself is the first level.
  ///   - body: Called once for each element. An error that it throws ends the pass.
  /// - Throws: ``JSONError`` for the first error, or the error that `body` threw.
  /// - Complexity: O(*n*), without allocation for each element.
  public static func elements(
    of bytes: ArraySlice<UInt8>, depthLimit: Int = defaultDepthLimit,
    _ body: (JSONValueSlice) throws(JSONError) -> Void
  ) throws(JSONError) {
    let text = bytes.span
    var offset = try enter(UInt8(ascii: "["), of: text, depthLimit: depthLimit, orElse: .notAnArray)
    if byte(at: offset, of: text) == UInt8(ascii: "]") { return try end(after: offset + 1, of: text) }
    while true {
      var nothing = NoEvents()
      let value = try value(at: offset, of: text, depthLimit: depthLimit - 1, events: &nothing)
      try body(JSONValueSlice(document: bytes, token: value))
      offset = skipWhitespace(from: value.end, of: text)
      switch byte(at: offset, of: text) {
      case UInt8(ascii: ","): offset = skipWhitespace(from: offset + 1, of: text)
      case UInt8(ascii: "]"): return try end(after: offset + 1, of: text)
      default: throw unexpected(at: offset, of: text)
      }
    }
  }
}

extension JSONScanner {
  /// Checks all bytes, and returns the token of their one value.
  static func wholeValue(in bytes: ArraySlice<UInt8>, depthLimit: Int) throws(JSONError) -> JSONToken {
    var nothing = NoEvents()
    return try wholeValue(in: bytes.span, depthLimit: depthLimit, events: &nothing)
  }

  /// Checks the whole text, and reports its contents to `events`.
  static func wholeValue<Events: JSONEvents>(
    in text: Span<UInt8>, depthLimit: Int, events: inout Events
  ) throws(JSONError) -> JSONToken {
    let start = skipWhitespace(from: 0, of: text)
    let token = try value(at: start, of: text, depthLimit: depthLimit, events: &events)
    try end(after: token.end, of: text)
    return token
  }

  /// Skips white space and an opening bracket, up to the first token inside.
  private static func enter(
    _ bracket: UInt8, of text: Span<UInt8>, depthLimit: Int, orElse reason: JSONError.Reason
  ) throws(JSONError) -> Int {
    let start = skipWhitespace(from: 0, of: text)
    guard start < text.count else { throw JSONError(.unexpectedEnd, at: start) }
    guard byte(at: start, of: text) == bracket else { throw JSONError(reason, at: start) }
    guard depthLimit > 0 else { throw JSONError(.nestedTooDeeply, at: start) }
    return skipWhitespace(from: start + 1, of: text)
  }

  /// Requires that nothing but white space is left.
  private static func end(after offset: Int, of text: Span<UInt8>) throws(JSONError) {
    let rest = skipWhitespace(from: offset, of: text)
    guard rest == text.count else { throw JSONError(.trailingBytes, at: rest) }
  }
}
