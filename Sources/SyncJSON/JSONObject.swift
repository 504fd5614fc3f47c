/// One object of a text, whose members are found by key.
///
/// The last copy of a repeated key counts. The few members of an ordinary record are compared one
/// by one, unless an object before it had the same. Many members go into a dictionary first, so that
/// no object makes decoding quadratic.
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
  private let layout: JSONLayout?
  /// The distances of the nodes of a known layout's keys from the first one.
  private let keyNodes: [Int]
  /// What is going to be asked for, if it is as for other objects of the layout.
  private var requests: [JSONLayout.Request]
  private var nextRequest = 0

  /// - Parameter keys: The type of the keys that are going to be asked for.
  init(_ cursor: JSONCursor, keys: any Any.Type) throws {
    text = cursor.text
    path = cursor.path
    let nodes = text.nodes
    guard nodes[cursor.node].token.kind == .object else {
      throw text.mismatch([String: Any].self, at: cursor.node, path: cursor.codingPath)
    }
    members = cursor.node + 1..<nodes[cursor.node].next
    if let (layout, keyNodes) = text.habits?.layouts(of: keys).layout(of: members, in: text) {
      (self.layout, self.keyNodes, requests, values) = (layout, keyNodes, layout.requests, nil)
      return
    }
    (layout, keyNodes, requests) = (nil, [], [])
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
    if nextRequest < requests.count, requests[nextRequest].asks(for: key) {
      nextRequest += 1
      return node(of: requests[nextRequest - 1].member)
    }
    return unexpected(key)
  }

  /// The node of the value of a numbered member.
  private func node(of member: Int) -> Int? {
    member < 0 ? nil : members.lowerBound + keyNodes[member] + 1
  }

  /// The node of the value of a key that comes out of turn, or for the first time.
  private func unexpected(_ key: String) -> Int? {
    guard let layout else { return search(key).map { $0 + 1 } }
    if let place = requests.firstIndex(where: { $0.asks(for: key) }) {
      nextRequest = place + 1
      return node(of: requests[place].member)
    }
    let member = search(key).flatMap { keyNodes.firstIndex(of: $0 - members.lowerBound) } ?? -1
    layout.remember(key, member)
    requests = layout.requests
    nextRequest = requests.count
    return node(of: member)
  }

  /// The node of the last copy of a key.
  private func search(_ key: String) -> Int? { text.member(key, in: members) }

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
