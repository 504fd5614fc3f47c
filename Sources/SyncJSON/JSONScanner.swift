/// Reads JSON text strictly (RFC 8259) and leaves its bytes where they are.
///
/// A scan checks every byte it passes: the grammar, UTF-8 inside strings, escapes, numbers, and how deeply values nest.
/// No input makes it trap. Surrogate escapes without their partner are let through, as the RFC's grammar does; they
/// read as U+FFFD. Keys may repeat: every copy is visited in order, so whoever assigns as they come keeps the last.
///
/// Offsets in errors count from the first byte of what was handed in.
public enum JSONScanner {
  /// How many objects and arrays may stand inside one another unless a caller says otherwise.
  public static let defaultDepthLimit = 64

  /// Checks that bytes are one whole value, with white space around it at most.
  ///
  /// - Throws: ``JSONError`` with the first thing that is wrong.
  /// - Complexity: O(*n*), without allocation down to a depth of 64.
  public static func validate(
    _ bytes: ArraySlice<UInt8>, depthLimit: Int = defaultDepthLimit
  ) throws(JSONError) {
    _ = try wholeValue(in: bytes, depthLimit: depthLimit)
  }

  /// Visits the members of one object in the order they are written.
  ///
  /// The pass that visits is the pass that checks: a member has been checked when `body` sees it, what follows it has
  /// not. So nothing learned from a member may be kept when the call throws.
  ///
  /// - Parameters:
  ///   - bytes: One whole object, with white space around it at most.
  ///   - depthLimit: How deeply values may nest, the object itself being the first level.
  ///   - body: Called once for each member. What it throws ends the pass.
  /// - Throws: ``JSONError`` with the first thing that is wrong, or what `body` threw.
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
  /// As with ``members(of:depthLimit:_:)``, an element has been checked when `body` sees it, what follows it has not.
  ///
  /// - Parameters:
  ///   - bytes: One whole array, with white space around it at most.
  ///   - depthLimit: How deeply values may nest, the array itself being the first level.
  ///   - body: Called once for each element. What it throws ends the pass.
  /// - Throws: ``JSONError`` with the first thing that is wrong, or what `body` threw.
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
  /// Checks bytes whole, and returns where their one value stands.
  static func wholeValue(in bytes: ArraySlice<UInt8>, depthLimit: Int) throws(JSONError) -> JSONToken {
    var nothing = NoEvents()
    return try wholeValue(in: bytes.span, depthLimit: depthLimit, events: &nothing)
  }

  /// Checks text whole, telling what stands in it on the way.
  static func wholeValue<Events: JSONEvents>(
    in text: Span<UInt8>, depthLimit: Int, events: inout Events
  ) throws(JSONError) -> JSONToken {
    let start = skipWhitespace(from: 0, of: text)
    let token = try value(at: start, of: text, depthLimit: depthLimit, events: &events)
    try end(after: token.end, of: text)
    return token
  }

  /// Steps over white space and an opening bracket, to the first thing inside.
  private static func enter(
    _ bracket: UInt8, of text: Span<UInt8>, depthLimit: Int, orElse reason: JSONError.Reason
  ) throws(JSONError) -> Int {
    let start = skipWhitespace(from: 0, of: text)
    guard start < text.count else { throw JSONError(.unexpectedEnd, at: start) }
    guard byte(at: start, of: text) == bracket else { throw JSONError(reason, at: start) }
    guard depthLimit > 0 else { throw JSONError(.nestedTooDeeply, at: start) }
    return skipWhitespace(from: start + 1, of: text)
  }

  /// Demands that nothing but white space is left.
  private static func end(after offset: Int, of text: Span<UInt8>) throws(JSONError) {
    let rest = skipWhitespace(from: offset, of: text)
    guard rest == text.count else { throw JSONError(.trailingBytes, at: rest) }
  }
}
