/// One object of a text, whose members are found by key.
///
/// The last copy of a repeated key counts. The few members of an ordinary record are compared one
/// by one, by a hash that the text's list already holds. Many members go into a dictionary first,
/// so that no object makes decoding quadratic.
final class JSONObject {
  /// A key that compares by its bytes. String equality would equate canonically equivalent
  /// spellings.
  private struct ExactKey: Hashable {
    let string: String

    static func == (a: ExactKey, b: ExactKey) -> Bool { a.string.utf8.elementsEqual(b.string.utf8) }

    func hash(into hasher: inout Hasher) { string.hashUTF8(into: &hasher) }
  }

  private static var fewMembers: Int { 24 }

  let text: JSONText
  let path: JSONPath?
  private let members: Range<Int>
  private let values: [ExactKey: Int]?

  init(_ cursor: JSONCursor) throws {
    text = cursor.text
    path = cursor.path
    let nodes = text.nodes
    guard nodes[cursor.node].token.kind == .object else {
      throw text.mismatch([String: Any].self, at: cursor.node, path: cursor.codingPath)
    }
    members = cursor.node + 1..<nodes[cursor.node].next
    var count = 0
    var key = members.lowerBound
    while key < members.upperBound, count <= Self.fewMembers {
      count += 1
      key = nodes[key + 1].next
    }
    guard count > Self.fewMembers else {
      values = nil
      return
    }
    var values: [ExactKey: Int] = [:]
    key = members.lowerBound
    while key < members.upperBound {
      values[ExactKey(string: text.text(of: key))] = key + 1
      key = nodes[key + 1].next
    }
    self.values = values
  }

  /// The node of a key's value.
  func value(of key: String) -> Int? {
    if let values { return values[ExactKey(string: key)] }
    let fingerprint = JSONText.fingerprint(of: key)
    let nodes = text.nodes
    var found: Int?
    var node = members.lowerBound
    while node < members.upperBound {
      if nodes[node].fingerprint == fingerprint, text.isKey(key, at: node) { found = node + 1 }
      node = nodes[node + 1].next
    }
    return found
  }

  /// The node of a key's value, unless that is null.
  func presentValue(of key: String) -> Int? {
    guard let node = value(of: key), text.kind(of: node) != .null else { return nil }
    return node
  }

  /// The keys in the order of their first appearance, each once.
  var keys: [String] {
    var keys: [String] = []
    var seen: Set<ExactKey> = []
    var node = members.lowerBound
    while node < members.upperBound {
      let key = text.text(of: node)
      if seen.insert(ExactKey(string: key)).inserted { keys.append(key) }
      node = text.nodes[node + 1].next
    }
    return keys
  }
}
