/// The elements of an array, decoded one after another.
struct JSONElements: UnkeyedDecodingContainer {
  private let text: JSONText
  private let path: JSONPath?
  private let end: Int
  private var node: Int
  let count: Int?
  private(set) var currentIndex = 0

  init(_ cursor: JSONCursor) throws {
    text = cursor.text
    path = cursor.path
    guard text.kind(of: cursor.node) == .array else {
      throw text.mismatch([Any].self, at: cursor.node, path: cursor.codingPath)
    }
    node = cursor.node + 1
    end = text.nodes[cursor.node].next
    var count = 0
    var element = node
    while element < end {
      count += 1
      element = text.nodes[element].next
    }
    self.count = count
  }

  var codingPath: [any CodingKey] { JSONPath.keys(path) }
  var isAtEnd: Bool { node >= end }

  mutating func decodeNil() throws -> Bool {
    try demandElement(Any?.self)
    guard text.kind(of: node) == .null else { return false }
    advance()
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try demandElement(type)
    let value = try text.bool(at: node) { elementPath() }
    advance()
    return value
  }

  mutating func decode(_ type: String.Type) throws -> String {
    try demandElement(type)
    let value = try text.string(at: node) { elementPath() }
    advance()
    return value
  }

  mutating func decode(_ type: Double.Type) throws -> Double {
    try demandElement(type)
    let value = try text.double(at: node) { elementPath() }
    advance()
    return value
  }

  mutating func decode(_ type: Float.Type) throws -> Float {
    try demandElement(type)
    let value = try text.float(at: node) { elementPath() }
    advance()
    return value
  }

  mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try demandElement(type)
    let value = try text.value(type, at: node, key: PayloadKey(index: currentIndex), after: path)
    advance()
    return value
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    let container = try cursor([String: Any].self).container(keyedBy: type)
    advance()
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try cursor([Any].self).unkeyedContainer()
    advance()
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try cursor((any Decoder).self)
    advance()
    return decoder
  }

  @inline(__always)
  private mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
    try demandElement(type)
    let value = try text.integer(type, at: node) { elementPath() }
    advance()
    return value
  }

  private func elementPath() -> [any CodingKey] { codingPath + [PayloadKey(index: currentIndex)] }

  private func cursor(_ type: any Any.Type) throws -> JSONCursor {
    try demandElement(type)
    return JSONCursor(
      text: text, node: node, path: JSONPath(PayloadKey(index: currentIndex), after: path))
  }

  private func demandElement(_ type: any Any.Type) throws {
    guard isAtEnd else { return }
    throw DecodingError.valueNotFound(
      type, .init(codingPath: elementPath(), debugDescription: "The array has no more elements."))
  }

  private mutating func advance() {
    node = text.nodes[node].next
    currentIndex += 1
  }
}
