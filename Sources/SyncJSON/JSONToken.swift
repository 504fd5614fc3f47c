/// The range of a checked value in its text.
package struct JSONToken {
  package var kind: JSONValueSlice.Kind
  /// Whether a string contains a backslash.
  package var hasEscapes: Bool
  package var start: Int
  package var end: Int
}

/// The events of a scan.
package protocol JSONEvents {
  /// Whether a key that is known begins at an offset; the offset past it, or `nil` to have it read.
  mutating func knownKey(at offset: Int, of text: Span<UInt8>) -> Int?
  /// A member's key has been read; its value follows.
  mutating func key(_ token: JSONToken, of text: Span<UInt8>)
  /// A string, number or literal has been read.
  mutating func scalar(_ token: JSONToken)
  /// An object or array begins.
  mutating func open(_ kind: JSONValueSlice.Kind, at offset: Int)
  /// The innermost open object or array ends before an offset.
  mutating func close(at offset: Int)
}

extension JSONEvents {
  @inline(__always)
  package mutating func knownKey(at offset: Int, of text: Span<UInt8>) -> Int? { nil }
}

/// Ignores all events: a scan that only checks.
struct NoEvents: JSONEvents {
  /// Gives the value an address: the compiler passes any for an inout of no bytes, and the thread
  /// sanitizer looks there, which ended a process.
  private var byte: UInt8 = 0

  @inline(__always) func key(_ token: JSONToken, of text: Span<UInt8>) {}
  @inline(__always) func scalar(_ token: JSONToken) {}
  @inline(__always) func open(_ kind: JSONValueSlice.Kind, at offset: Int) {}
  @inline(__always) func close(at offset: Int) {}
}
