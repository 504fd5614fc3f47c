/// A value that JSON's grammar allows and readers do not agree on.
///
/// Readers refuse it, or read another value (RFC 7493, sections 2.1 and 2.2).
package enum UnportableJSON: Hashable, Sendable {
  /// An escape for one half of a surrogate pair, without the other half.
  case halfCharacter
  /// A number past the greatest double.
  case hugeNumber

  /// Finds the first such part of a value.
  ///
  /// `nil` if there is none, and for bytes that are not one JSON value.
  ///
  /// - Complexity: O(*n*) in the value's bytes.
  package init?(in value: ArraySlice<UInt8>) {
    var suspects = Suspects()
    let text = value.span
    let limit = JSONScanner.defaultDepthLimit
    guard (try? JSONScanner.wholeValue(in: text, depthLimit: limit, events: &suspects)) != nil else {
      // The code that splits the record's payload reports the error.
      return nil
    }
    for token in suspects.tokens {
      let bytes = text.extracting(token.start..<token.end)
      if token.kind == .number, JSONNumber.double(from: bytes).isInfinite {
        self = .hugeNumber
        return
      }
      if token.kind == .string, Self.hasHalfCharacter(bytes) {
        self = .halfCharacter
        return
      }
    }
    return nil
  }

  /// The flaw of the value, as the end of a sentence about it.
  package var description: String {
    switch self {
    case .halfCharacter: "has an escape for half of a surrogate pair, without the other half"
    case .hugeNumber: "has a number past the greatest double (about 1.8e308)"
    }
  }

  /// Collects the tokens that may be unportable.
  private struct Suspects: JSONEvents {
    var tokens: [JSONToken] = []

    mutating func key(_ token: JSONToken, of text: Span<UInt8>) {
      if token.hasEscapes { tokens.append(token) }
    }

    mutating func scalar(_ token: JSONToken) {
      // The shortest number that large has five bytes: 1e309.
      if token.kind == .number ? token.end - token.start >= 5 : token.hasEscapes { tokens.append(token) }
    }

    func open(_ kind: JSONValueSlice.Kind, at offset: Int) {}
    func close(at offset: Int) {}
  }

  /// Whether a checked string has one half of a surrogate pair alone.
  private static func hasHalfCharacter(_ text: Span<UInt8>) -> Bool {
    var offset = 0
    while offset < text.count {
      guard text[offset] == UInt8(ascii: "\\") else {
        offset += 1
        continue
      }
      guard JSONScanner.byte(at: offset + 1, of: text) == UInt8(ascii: "u") else {
        offset += 2
        continue
      }
      let unit = JSONString.codeUnit(at: offset + 2, of: text)
      offset += 6
      if UTF16.isTrailSurrogate(unit) { return true }
      guard UTF16.isLeadSurrogate(unit) else { continue }
      guard JSONScanner.byte(at: offset, of: text) == UInt8(ascii: "\\"),
        JSONScanner.byte(at: offset + 1, of: text) == UInt8(ascii: "u"),
        UTF16.isTrailSurrogate(JSONString.codeUnit(at: offset + 2, of: text))
      else { return true }
      offset += 6
    }
    return false
  }
}
