extension JSONScanner {
  /// The open objects and arrays, one bit for each, the innermost lowest.
  ///
  /// Up to 64 levels need no allocation, and no depth needs the call stack.
  private struct Nesting {
    private(set) var depth = 0
    private var bits: UInt64 = 0
    private var outer: [UInt64] = []

    var innermostIsObject: Bool { bits & 1 == 1 }

    mutating func push(isObject: Bool) {
      if depth > 0, depth % 64 == 0 { outer.append(bits) }
      bits = bits << 1 | (isObject ? 1 : 0)
      depth += 1
    }

    mutating func pop() {
      depth -= 1
      bits >>= 1
      if depth > 0, depth % 64 == 0, let word = outer.popLast() { bits = word }
    }
  }

  /// Checks the value that begins at an offset, and everything inside it.
  static func value<Events: JSONEvents>(
    at start: Int, of text: Span<UInt8>, depthLimit: Int, events: inout Events
  ) throws(JSONError) -> JSONToken {
    let first = byte(at: start, of: text)
    guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else {
      let token = try scalar(at: start, of: text)
      events.scalar(token)
      return token
    }
    let kind: JSONValueSlice.Kind = first == UInt8(ascii: "{") ? .object : .array
    let end = try nest(at: start, of: text, depthLimit: depthLimit, events: &events)
    return JSONToken(kind: kind, hasEscapes: false, start: start, end: end)
  }

  /// Checks an object or array and returns the offset past it.
  private static func nest<Events: JSONEvents>(
    at start: Int, of text: Span<UInt8>, depthLimit: Int, events: inout Events
  ) throws(JSONError) -> Int {
    var nesting = Nesting()
    var offset = start
    while true {
      // A value begins here.
      let first = byte(at: offset, of: text)
      let isObject = first == UInt8(ascii: "{")
      if isObject || first == UInt8(ascii: "[") {
        guard nesting.depth < depthLimit else { throw JSONError(.nestedTooDeeply, at: offset) }
        nesting.push(isObject: isObject)
        events.open(isObject ? .object : .array, at: offset)
        offset = skipWhitespace(from: offset + 1, of: text)
        // The closing bracket of an empty object or array is read below, like any other.
        if byte(at: offset, of: text) != (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
          if isObject { offset = try member(at: offset, of: text, events: &events) }
          continue
        }
      } else {
        let token = try scalar(at: offset, of: text)
        events.scalar(token)
        offset = skipWhitespace(from: token.end, of: text)
      }
      // Reads closing brackets, up to the comma before the next value.
      closing: while true {
        switch byte(at: offset, of: text) {
        case UInt8(ascii: ","):
          offset = skipWhitespace(from: offset + 1, of: text)
          if nesting.innermostIsObject { offset = try member(at: offset, of: text, events: &events) }
          break closing
        case UInt8(ascii: "}") where nesting.innermostIsObject,
          UInt8(ascii: "]") where !nesting.innermostIsObject:
          nesting.pop()
          events.close(at: offset + 1)
          if nesting.depth == 0 { return offset + 1 }
          offset = skipWhitespace(from: offset + 1, of: text)
        default:
          throw unexpected(at: offset, of: text)
        }
      }
    }
  }

  /// Reads a key and its colon, and returns the offset of the value.
  @inline(__always)
  private static func member<Events: JSONEvents>(
    at offset: Int, of text: Span<UInt8>, events: inout Events
  ) throws(JSONError) -> Int {
    if let end = events.knownKey(at: offset, of: text) { return try value(afterKey: end, of: text) }
    let key = try key(at: offset, of: text)
    events.key(key.token, of: text)
    return key.next
  }

  /// Reads a key and its colon, up to the value.
  @inline(__always)
  static func key(at offset: Int, of text: Span<UInt8>) throws(JSONError) -> (token: JSONToken, next: Int) {
    guard byte(at: offset, of: text) == UInt8(ascii: "\"") else { throw unexpected(at: offset, of: text) }
    let token = try string(at: offset, of: text)
    return (token, try value(afterKey: token.end, of: text))
  }

  /// Reads a colon, up to the value.
  @inline(__always)
  private static func value(afterKey end: Int, of text: Span<UInt8>) throws(JSONError) -> Int {
    let colon = skipWhitespace(from: end, of: text)
    guard byte(at: colon, of: text) == UInt8(ascii: ":") else { throw unexpected(at: colon, of: text) }
    return skipWhitespace(from: colon + 1, of: text)
  }

  @inline(__always)
  private static func scalar(at offset: Int, of text: Span<UInt8>) throws(JSONError) -> JSONToken {
    switch byte(at: offset, of: text) {
    case UInt8(ascii: "\""): try string(at: offset, of: text)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number(at: offset, of: text)
    case UInt8(ascii: "t"): try literal(.true, letters: 0x6575_7274, count: 4, at: offset, of: text)
    case UInt8(ascii: "f"): try literal(.false, letters: 0x65_736c_6166, count: 5, at: offset, of: text)
    case UInt8(ascii: "n"): try literal(.null, letters: 0x6c6c_756e, count: 4, at: offset, of: text)
    default: throw unexpected(at: offset, of: text)
    }
  }

  /// Checks a literal, whose letters are packed into a word, the first one lowest.
  @inline(__always)
  private static func literal(
    _ kind: JSONValueSlice.Kind, letters: UInt64, count: Int, at start: Int, of text: Span<UInt8>
  ) throws(JSONError) -> JSONToken {
    for index in 1..<count {
      let letter = UInt8(truncatingIfNeeded: letters >> UInt64(8 * index))
      guard byte(at: start + index, of: text) == letter else { throw unexpected(at: start + index, of: text) }
    }
    return JSONToken(kind: kind, hasEscapes: false, start: start, end: start + count)
  }
}
