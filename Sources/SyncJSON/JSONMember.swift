/// One member of an object, as spelled in the text.
public struct JSONMember: Sendable {
  private let document: ArraySlice<UInt8>
  private let keyToken: JSONToken
  private let valueToken: JSONToken

  init(document: ArraySlice<UInt8>, key: JSONToken, value: JSONToken) {
    self.document = document
    keyToken = key
    valueToken = value
  }

  /// The key's bytes between its quotes, with escapes as written.
  public var rawKey: ArraySlice<UInt8> {
    document[document.startIndex + keyToken.start + 1..<document.startIndex + keyToken.end - 1]
  }

  /// The key with its escapes resolved.
  public var key: String { JSONString.decoded(rawKey, hasEscapes: keyToken.hasEscapes) }

  /// The value.
  public var value: JSONValueSlice { JSONValueSlice(document: document, token: valueToken) }

  /// Whether the key, with its escapes resolved, equals the given UTF-8 bytes.
  ///
  /// Nothing is allocated unless the key is written with escapes.
  public func hasKey(_ other: [UInt8]) -> Bool { isKey(other) }

  /// Whether the key, with its escapes resolved, is a name.
  package func hasKey(_ name: String) -> Bool { isKey(name.utf8) }

  private func isKey(_ other: some Collection<UInt8>) -> Bool {
    guard !keyToken.hasEscapes else { return JSONString.unescaped(rawKey).elementsEqual(other) }
    guard keyToken.end - keyToken.start - 2 == other.count else { return false }
    let text = document.span
    var offset = keyToken.start + 1
    for byte in other {
      if text[offset] != byte { return false }
      offset += 1
    }
    return true
  }
}
