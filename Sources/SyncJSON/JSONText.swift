/// A checked JSON text with a list of its nodes, for decoding.
///
/// The nodes are in the order of the text. An object is followed by each member's key and value, an
/// array by its elements. Both hold the index of the node after all of these.
final class JSONText {
  struct Node {
    var token: JSONToken
    /// The first node after this one and everything inside it.
    var next: Int
    /// A key's step among the ``JSONShapes``, and an object's last key's; 0 if that is not known.
    var step: Int
  }

  // No access to these variables lasts while another one begins; to check that took a sixth of a decoding.
  @exclusivity(unchecked) private(set) var bytes: ArraySlice<UInt8> = []
  @exclusivity(unchecked) private var scan: Scan
  let userInfo: [CodingUserInfoKey: any Sendable]
  let forms: (any JSONForms)?
  /// The places of the forms of types that were read; nothing if only one text is read.
  @exclusivity(unchecked) private var places: [(type: ObjectIdentifier, place: JSONFormPlace)] = []
  /// The makers of containers by their types of keys.
  @exclusivity(unchecked) private var makers: [(keys: ObjectIdentifier, maker: AnyObject)] = []
  private let learns: Bool
  /// The nodes of the values of objects that have many members, by their keys.
  @exclusivity(unchecked) private var indexes: [Int: [ExactKey: Int]] = [:]

  /// Begins without nodes.
  ///
  /// - Parameter learns: Whether several texts are read, one after another.
  init(userInfo: [CodingUserInfoKey: any Sendable], forms: (any JSONForms)?, learns: Bool) {
    (self.userInfo, self.forms, self.learns) = (userInfo, forms, learns)
    scan = Scan(learns: learns)
  }

  /// Reads a text in the place of the one before.
  func read(_ bytes: ArraySlice<UInt8>, depthLimit: Int) throws(JSONError) {
    self.bytes = bytes
    if !indexes.isEmpty { indexes = [:] }
    scan.begin(room: bytes.count / 8 + 2)
    _ = try JSONScanner.wholeValue(in: bytes.span, depthLimit: depthLimit, events: &scan)
    let null = JSONToken(kind: .null, hasEscapes: false, start: 0, end: 0)
    scan.scalar(null)
  }

  /// The nodes of the text, and beyond them those of a longer one before.
  @inline(__always)
  var nodes: [Node] { scan.nodes }

  /// The node that stands for a missing value.
  var missing: Int { scan.count - 1 }

  @inline(__always)
  func kind(of node: Int) -> JSONValueSlice.Kind { nodes[node].token.kind }

  /// The bytes of a node as written, without a string's quotes.
  func content(of node: Int) -> ArraySlice<UInt8> {
    let token = nodes[node].token
    let quote = token.kind == .string ? 1 : 0
    return bytes[bytes.startIndex + token.start + quote..<bytes.startIndex + token.end - quote]
  }

  /// The text of a string or key.
  func text(of node: Int) -> String {
    let token = nodes[node].token
    if token.hasEscapes { return JSONString.decoded(content(of: node), hasEscapes: true) }
    let bytes = bytes
    return bytes.span.extracting(token.start + 1..<token.end - 1).withUnsafeBufferPointer {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Where the form of a type is, if that is remembered.
  func formPlace<Value>(of type: Value.Type) -> JSONFormPlace? {
    let name = ObjectIdentifier(type)
    // There are few: they are found sooner in a list than by their hashes.
    for number in places.indices where places[number].type == name { return places[number].place }
    guard learns, let place = forms?.place(of: type) else { return nil }
    places.append((name, place))
    return place
  }

  /// The ``JSONMembersMaker`` for a type of keys; `nil` if only one text is read.
  func membersMaker<Key: CodingKey>(for keys: Key.Type) -> AnyObject? {
    let name = ObjectIdentifier(keys)
    for number in makers.indices where makers[number].keys == name { return makers[number].maker }
    return learns ? newMembersMaker(for: keys) : nil
  }

  @inline(never)
  private func newMembersMaker<Key: CodingKey>(for keys: Key.Type) -> AnyObject {
    let maker = JSONMembersMaker<JSONMembers<Key>>()
    makers.append((ObjectIdentifier(keys), maker))
    return maker
  }

  /// The list of nodes while a text is scanned.
  private struct Scan: JSONEvents {
    private(set) var nodes: [Node] = []
    private(set) var count = 0
    /// The open objects and arrays, and the steps at which they began.
    private var enclosing: [(node: Int, step: Int)] = []
    /// The step of the last key in the innermost open object.
    private var step = 0
    var shapes: JSONShapes

    init(learns: Bool) { shapes = JSONShapes(learns: learns) }

    mutating func begin(room: Int) {
      if nodes.isEmpty { nodes = Self.empty(room) }
      enclosing.removeAll(keepingCapacity: true)
      (count, step) = (0, shapes.start)
    }

    @inline(__always)
    private mutating func append(_ token: JSONToken, step: Int = 0) {
      if count == nodes.count { nodes += Self.empty(count) }
      let next = count &+ 1
      nodes[count] = Node(token: token, next: next, step: step)
      count = next
    }

    @inline(never)
    private static func empty(_ number: Int) -> [Node] {
      let none = JSONToken(kind: .null, hasEscapes: false, start: 0, end: 0)
      return Array(repeating: Node(token: none, next: 0, step: 0), count: number)
    }

    @inline(__always)
    mutating func knownKey(at offset: Int, of text: Span<UInt8>) -> Int? {
      let known = shapes.step(after: step, spelledAt: offset, of: text)
      guard known != 0 else { return nil }
      step = known
      let end = offset + shapes.steps[known].spelling.length
      append(JSONToken(kind: .string, hasEscapes: false, start: offset, end: end), step: known)
      return end
    }

    @inline(__always)
    mutating func key(_ token: JSONToken, of text: Span<UInt8>) {
      step = shapes.step(after: step, token, of: text)
      append(token, step: step)
    }

    @inline(__always)
    mutating func scalar(_ token: JSONToken) { append(token) }

    @inline(__always)
    mutating func open(_ kind: JSONValueSlice.Kind, at offset: Int) {
      enclosing.append((count, step))
      append(JSONToken(kind: kind, hasEscapes: false, start: offset, end: offset))
      if kind == .object { step = shapes.inside(step) }
    }

    @inline(__always)
    mutating func close(at offset: Int) {
      guard let (node, outer) = enclosing.popLast() else { return }
      nodes[node].token.end = offset
      nodes[node].next = count
      if nodes[node].token.kind == .object { nodes[node].step = step }
      step = outer
    }
  }
}

extension JSONText {
  /// A key that compares by its bytes. String equality would equate canonically equivalent
  /// spellings.
  private struct ExactKey: Hashable {
    let string: String

    static func == (a: ExactKey, b: ExactKey) -> Bool { a.string.utf8.elementsEqual(b.string.utf8) }

    func hash(into hasher: inout Hasher) { string.hashUTF8(into: &hasher) }
  }

  private static var fewMembers: Int { 24 }

  /// The node of the value of an object's member, of the last copy of a repeated one.
  func value(of key: String, in object: Int) -> Int? {
    let step = scan.shapes.expected
    if scan.shapes.isKey(key, of: step), let node = node(of: step, in: object) {
      scan.shapes.ask(for: step)
      return node + 1
    }
    return unexpectedValue(of: key, in: object)
  }

  /// The node of the key of a step, if it is where it was before.
  @inline(__always)
  private func node(of step: Int, in object: Int) -> Int? {
    let place = scan.shapes.steps[step]
    let node = object + place.distance
    // The objects within this one have other origins, and so have other steps.
    guard step != 0, scan.shapes.steps[scan.nodes[object].step].origin == place.origin,
      node < scan.nodes[object].next, scan.nodes[node].step == step
    else { return nil }
    return node
  }

  private func unexpectedValue(of key: String, in object: Int) -> Int? {
    guard scan.nodes[object].step != 0 else { return unknownValue(of: key, in: object) }
    // A type that first asks whether a member is null asks for it again.
    let last = scan.shapes.last
    if scan.shapes.isKey(key, of: last), let node = node(of: last, in: object) { return node + 1 }
    var node = object + 1
    while node < scan.nodes[object].next {
      let step = scan.nodes[node].step
      if scan.shapes.isKey(key, of: step) {
        scan.shapes.expect(step, at: node - object)
        return node + 1
      }
      node = scan.nodes[node + 1].next
    }
    return nil
  }

  /// The node of a value in an object of no known shape.
  ///
  /// Many members go into a dictionary first, so that no object makes decoding quadratic.
  private func unknownValue(of key: String, in object: Int) -> Int? {
    if let index = indexes[object] { return index[ExactKey(string: key)] }
    let (nodes, bytes) = (nodes, bytes)
    // Most keys of one length differ in their first bytes. An empty key is followed by its quote.
    let (length, first) = (key.utf8.count + 2, key.utf8.first ?? UInt8(ascii: "\""))
    var (found, count): (Int?, Int) = (nil, 0)
    var node = object + 1
    while node < nodes[object].next {
      let token = nodes[node].token
      let mayBeKey = token.end - token.start == length && bytes.span[token.start + 1] == first
      if mayBeKey || token.hasEscapes, isKey(key, token) { found = node + 1 }
      count += 1
      node = nodes[node + 1].next
    }
    if count > Self.fewMembers {
      var index: [ExactKey: Int] = [:]
      forEachKey(of: object) { index[ExactKey(string: text(of: $0))] = $0 + 1 }
      indexes[object] = index
    }
    return found
  }

  /// Whether a key, with its escapes resolved, has a string's UTF-8 bytes.
  private func isKey(_ key: String, _ token: JSONToken) -> Bool {
    let raw = bytes[bytes.startIndex + token.start + 1..<bytes.startIndex + token.end - 1]
    return token.hasEscapes
      ? JSONString.unescaped(raw).elementsEqual(key.utf8) : raw.elementsEqual(key.utf8)
  }

  /// An object's keys in the order of their first appearance, each once.
  func keys(of object: Int) -> [String] {
    var keys: [String] = []
    var seen: Set<ExactKey> = []
    forEachKey(of: object) { node in
      let key = text(of: node)
      if seen.insert(ExactKey(string: key)).inserted { keys.append(key) }
    }
    return keys
  }

  private func forEachKey(of object: Int, _ body: (Int) -> Void) {
    var node = object + 1
    while node < nodes[object].next {
      body(node)
      node = nodes[node + 1].next
    }
  }
}
