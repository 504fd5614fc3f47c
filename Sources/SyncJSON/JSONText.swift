/// A checked JSON text with a list of its nodes, for decoding.
///
/// The nodes are in the order of the text. An object is followed by each member's key and value, an
/// array by its elements. Both hold the index of the node after all of these.
final class JSONText {
  struct Node {
    var token: JSONToken
    /// The first node after this one and everything inside it.
    var next: Int
  }

  let bytes: ArraySlice<UInt8>
  let nodes: [Node]
  let userInfo: [CodingUserInfoKey: any Sendable]
  let forms: (any JSONForms)?
  let habits: JSONHabits?

  /// The node that stands for a missing value.
  var missing: Int { nodes.count - 1 }

  init(
    _ bytes: ArraySlice<UInt8>, depthLimit: Int, userInfo: [CodingUserInfoKey: any Sendable],
    forms: (any JSONForms)?, habits: JSONHabits?
  ) throws(JSONError) {
    var list = NodeList(room: bytes.count / 8 + 2)
    _ = try JSONScanner.wholeValue(in: bytes.span, depthLimit: depthLimit, events: &list)
    let null = JSONToken(kind: .null, hasEscapes: false, start: 0, end: 0)
    list.append(null)
    self.bytes = bytes
    self.nodes = list.nodes
    self.userInfo = userInfo
    self.forms = forms
    self.habits = habits
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

  /// The node of the last copy of a key among an object's members.
  func member(_ key: String, in members: Range<Int>) -> Int? {
    let nodes = nodes
    let length = key.utf8.count + 2
    var found: Int?
    var node = members.lowerBound
    while node < members.upperBound {
      let token = nodes[node].token
      if token.end - token.start == length || token.hasEscapes, isKey(key, token) { found = node }
      node = nodes[node + 1].next
    }
    return found
  }

  /// Whether a key, with its escapes resolved, has a string's UTF-8 bytes.
  private func isKey(_ key: String, _ token: JSONToken) -> Bool {
    let raw = bytes[bytes.startIndex + token.start + 1..<bytes.startIndex + token.end - 1]
    return token.hasEscapes
      ? JSONString.unescaped(raw).elementsEqual(key.utf8) : raw.elementsEqual(key.utf8)
  }

  private struct NodeList: JSONEvents {
    var nodes: [Node] = []
    private var enclosing: [Int] = []

    init(room: Int) { nodes.reserveCapacity(room) }

    @inline(__always)
    mutating func append(_ token: JSONToken) {
      nodes.append(Node(token: token, next: nodes.count + 1))
    }

    @inline(__always)
    mutating func key(_ token: JSONToken, of text: Span<UInt8>) { append(token) }

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
