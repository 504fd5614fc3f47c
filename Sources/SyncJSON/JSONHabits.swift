/// What the objects that are decoded one after another have in common.
///
/// The records of a type have their members in one order, and a type asks for them in one order. What
/// one record has shown is tried first on the next: the bytes of its keys are compared once, and no
/// member is searched for. The same goes for the forms of types. Whatever differs is read as without
/// habits.
package final class JSONHabits {
  // There are few of each: they are found sooner in a list than by their hashes.
  private var layouts: [(keys: ObjectIdentifier, layouts: JSONLayouts)] = []
  private var forms: [(type: ObjectIdentifier, place: JSONFormPlace)] = []

  /// Begins without habits.
  package init() {}

  /// The layouts of the objects that a type of keys reads.
  func layouts(of keys: any Any.Type) -> JSONLayouts {
    let name = ObjectIdentifier(keys)
    if let known = layouts.first(where: { $0.keys == name }) { return known.layouts }
    let new = JSONLayouts()
    layouts.append((name, new))
    return new
  }

  /// The form of a type, which is looked up once.
  func form<Value>(of type: Value.Type, in forms: any JSONForms) -> JSONFormPlace {
    let name = ObjectIdentifier(type)
    if let known = self.forms.first(where: { $0.type == name }) { return known.place }
    let found = forms.place(of: type)
    self.forms.append((name, found))
    return found
  }
}

/// The layouts of the objects that one type of keys reads.
final class JSONLayouts {
  private var known: [JSONLayout] = []

  /// Records with other optional members have other layouts; more are not remembered.
  private static var most: Int { 8 }

  /// The layout of an object; `nil` for an object that is searched.
  func layout(of members: Range<Int>, in text: JSONText) -> (layout: JSONLayout, keys: [Int])? {
    for (place, layout) in known.enumerated() {
      guard let keys = layout.keys(of: members, in: text) else { continue }
      if place > 0 { known.swapAt(0, place) }
      return (layout, keys)
    }
    guard known.count < Self.most, let new = JSONLayout(members, in: text) else { return nil }
    known.append(new)
    return new.keys(of: members, in: text).map { (new, $0) }
  }
}

/// The keys of an object in their order, and the order in which they were asked for.
final class JSONLayout {
  /// The keys as they are written, with their quotes, one after another.
  private let written: [UInt8]
  /// The distances of the keys' nodes from the object's first one.
  private let distances: [Int]
  /// The keys that were asked for, each once.
  private(set) var requests: [Request] = []

  /// A key that was asked for.
  struct Request {
    /// It has ASCII characters alone.
    let key: String
    /// The number of the member; -1 if there is none.
    let member: Int

    /// Whether a key has the same bytes.
    ///
    /// Another spelling that string equality takes for it has more bytes.
    @inline(__always)
    func asks(for key: String) -> Bool { self.key.utf8.count == key.utf8.count && self.key == key }
  }

  /// A type that asks for more, as a dictionary does, is searched for.
  private static var mostRequests: Int { 256 }

  /// Remembers an object; `nil` if a key comes twice.
  init?(_ members: Range<Int>, in text: JSONText) {
    var (written, distances): ([UInt8], [Int]) = ([], [])
    var seen: Set<[UInt8]> = []
    var node = members.lowerBound
    while node < members.upperBound {
      guard seen.insert(Array(text.text(of: node).utf8)).inserted else { return nil }
      let token = text.nodes[node].token
      written += text.bytes[text.bytes.startIndex + token.start..<text.bytes.startIndex + token.end]
      distances.append(node - members.lowerBound)
      node = text.nodes[node + 1].next
    }
    (self.written, self.distances) = (written, distances)
  }

  /// The distances of the keys of an object that has the same keys in the same order.
  func keys(of members: Range<Int>, in text: JSONText) -> [Int]? {
    let nodes = text.nodes
    let (bytes, written) = (text.bytes, written)
    let span = bytes.span
    let expected = written.span
    var (place, number, node) = (0, 0, members.lowerBound)
    var isSame = true
    while node < members.upperBound {
      guard number < distances.count else { return nil }
      let token = nodes[node].token
      guard place + token.end - token.start <= expected.count else { return nil }
      for offset in token.start..<token.end {
        guard span[offset] == expected[place] else { return nil }
        place += 1
      }
      if node - members.lowerBound != distances[number] { isSame = false }
      number += 1
      node = nodes[node + 1].next
    }
    guard number == distances.count else { return nil }
    if isSame { return distances }
    var keys: [Int] = []
    keys.reserveCapacity(number)
    node = members.lowerBound
    while node < members.upperBound {
      keys.append(node - members.lowerBound)
      node = nodes[node + 1].next
    }
    return keys
  }

  /// Remembers what a key's search has found.
  func remember(_ key: String, _ member: Int) {
    guard requests.count < Self.mostRequests, key.utf8.allSatisfy({ $0 < 0x80 }) else { return }
    requests.append(Request(key: key, member: member))
  }
}
