/// A checked JSON text with a list of its nodes, for decoding.
///
/// The nodes are in the order of the text. An object is followed by each member's key and value, an
/// array by its elements. Both hold the index of the node after all of these.
final class JSONText {
  struct Node {
    var token: JSONToken
    /// The first node after this one and everything inside it.
    var next: Int
    /// The hash of a key's UTF-8 bytes, escapes resolved; 0 for other nodes.
    var fingerprint: UInt64 = 0
  }

  let bytes: ArraySlice<UInt8>
  let nodes: [Node]
  let userInfo: [CodingUserInfoKey: any Sendable]
  let forms: (any JSONForms)?

  /// The node that stands for a missing value.
  var missing: Int { nodes.count - 1 }

  init(
    _ bytes: ArraySlice<UInt8>, depthLimit: Int, userInfo: [CodingUserInfoKey: any Sendable],
    forms: (any JSONForms)?
  ) throws(JSONError) {
    var list = NodeList(bytes: bytes)
    _ = try JSONScanner.wholeValue(in: bytes.span, depthLimit: depthLimit, events: &list)
    let null = JSONToken(kind: .null, hasEscapes: false, start: 0, end: 0)
    list.append(null)
    self.bytes = bytes
    self.nodes = list.nodes
    self.userInfo = userInfo
    self.forms = forms
  }

  func kind(of node: Int) -> JSONValueSlice.Kind { nodes[node].token.kind }

  /// The bytes of a node as written, without a string's quotes.
  func content(of node: Int) -> ArraySlice<UInt8> {
    let token = nodes[node].token
    let quote = token.kind == .string ? 1 : 0
    return bytes[bytes.startIndex + token.start + quote..<bytes.startIndex + token.end - quote]
  }

  /// The text of a string or key.
  func text(of node: Int) -> String {
    JSONString.decoded(content(of: node), hasEscapes: nodes[node].token.hasEscapes)
  }

  /// Whether a key, with its escapes resolved, has a string's UTF-8 bytes.
  func isKey(_ key: String, at node: Int) -> Bool {
    let token = nodes[node].token
    guard !token.hasEscapes else { return text(of: node).utf8.elementsEqual(key.utf8) }
    guard token.end - token.start - 2 == key.utf8.count else { return false }
    let bytes = bytes
    var offset = bytes.startIndex + token.start + 1
    for byte in key.utf8 {
      guard bytes[offset] == byte else { return false }
      offset += 1
    }
    return true
  }

  /// The hash of a key's UTF-8 bytes (FNV-1a).
  static func fingerprint(of key: String) -> UInt64 {
    var hash = emptyFingerprint
    for byte in key.utf8 { mix(byte, into: &hash) }
    return hash
  }

  private static var emptyFingerprint: UInt64 { 0xcbf2_9ce4_8422_2325 }

  @inline(__always)
  private static func mix(_ byte: UInt8, into hash: inout UInt64) {
    hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
  }

  private struct NodeList: JSONEvents {
    let bytes: ArraySlice<UInt8>
    var nodes: [Node] = []
    private var enclosing: [Int] = []

    init(bytes: ArraySlice<UInt8>) {
      self.bytes = bytes
      nodes.reserveCapacity(bytes.count / 8 + 2)
    }

    @inline(__always)
    mutating func append(_ token: JSONToken, fingerprint: UInt64 = 0) {
      nodes.append(Node(token: token, next: nodes.count + 1, fingerprint: fingerprint))
    }

    @inline(__always)
    mutating func key(_ token: JSONToken, of text: Span<UInt8>) {
      append(
        token, fingerprint: token.hasEscapes ? unescapedFingerprint(token) : rawFingerprint(token, of: text))
    }

    @inline(__always)
    private func rawFingerprint(_ token: JSONToken, of text: Span<UInt8>) -> UInt64 {
      var hash = JSONText.emptyFingerprint
      for offset in token.start + 1..<token.end - 1 { JSONText.mix(text[offset], into: &hash) }
      return hash
    }

    private func unescapedFingerprint(_ token: JSONToken) -> UInt64 {
      let raw = bytes[bytes.startIndex + token.start + 1..<bytes.startIndex + token.end - 1]
      var hash = JSONText.emptyFingerprint
      for byte in JSONString.unescaped(raw) { JSONText.mix(byte, into: &hash) }
      return hash
    }

    @inline(__always)
    mutating func scalar(_ token: JSONToken) { append(token) }

    @inline(__always)
    mutating func open(_ kind: JSONValueSlice.Kind, at offset: Int) {
      enclosing.append(nodes.count)
      append(JSONToken(kind: kind, hasEscapes: false, start: offset, end: offset))
    }

    @inline(__always)
    mutating func close(at offset: Int) {
      guard let node = enclosing.popLast() else { return }
      nodes[node].token.end = offset
      nodes[node].next = nodes.count
    }
  }
}
