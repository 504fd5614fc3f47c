/// The members of an object, decoded by key.
///
/// Everything that does not depend on the type of the keys belongs to ``JSONText``: code of a
/// generic type is slow in other modules.
struct JSONMembers<Key: CodingKey>: JSONMembersContainer {
  private let object: JSONCursor

  init(_ object: JSONCursor) throws {
    guard object.text.kind(of: object.node) == .object else {
      throw object.text.mismatch([String: Any].self, at: object.node, path: object.codingPath)
    }
    self.object = object
  }

  var codingPath: [any CodingKey] { object.codingPath }
  var allKeys: [Key] { object.text.keys(of: object.node).compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { value(of: key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try read(key) { $0.kind(of: $1) == .null } }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try read(key) { text, node in try text.bool(at: node) { path(to: key) } }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try read(key) { text, node in try text.string(at: node) { path(to: key) } }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try read(key) { text, node in try text.double(at: node) { path(to: key) } }
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try read(key) { text, node in try text.float(at: node) { path(to: key) } }
  }

  // A generic method is not specialized for the requirement of a protocol, and takes ten times as long.

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(type, key) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try object.text.value(type, at: node(key), key: key, after: object.path)
  }

  // One search instead of the three of the defaults.

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try readIfPresent(key) { text, node in try text.bool(at: node) { path(to: key) } }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try readIfPresent(key) { text, node in try text.string(at: node) { path(to: key) } }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try readIfPresent(key) { text, node in try text.double(at: node) { path(to: key) } }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try readIfPresent(key) { text, node in try text.integer(type, at: node) { path(to: key) } }
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try readIfPresent(key) { text, node in try text.integer(type, at: node) { path(to: key) } }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try readIfPresent(key) { text, node in try text.value(type, at: node, key: key, after: object.path) }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try cursor(key, node: node(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try cursor(key, node: node(key)).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    cursor(PayloadKey.super, node: object.text.value(of: "super", in: object.node) ?? object.text.missing)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    cursor(key, node: value(of: key) ?? object.text.missing)
  }

  private func value(of key: Key) -> Int? { object.text.value(of: key.stringValue, in: object.node) }

  private func node(_ key: Key) throws -> Int { try read(key) { $1 } }

  @inline(__always)
  private func read<Value>(_ key: Key, _ value: (JSONText, Int) throws -> Value) throws -> Value {
    let text = object.text
    if let node = text.value(of: key.stringValue, in: object.node) { return try value(text, node) }
    throw absence(of: key)
  }

  // The functions that make errors are separate, because their variables would cost all calls time.
  @inline(never)
  private func absence(of key: Key) -> DecodingError {
    .keyNotFound(
      key, .init(codingPath: codingPath, debugDescription: "The object has no member of that name."))
  }

  @inline(__always)
  private func readIfPresent<Value>(_ key: Key, _ value: (JSONText, Int) throws -> Value) throws -> Value? {
    let text = object.text
    guard let node = text.value(of: key.stringValue, in: object.node), text.kind(of: node) != .null else {
      return nil
    }
    return try value(text, node)
  }

  @inline(__always)
  private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, _ key: Key) throws -> Integer {
    try read(key) { text, node in try text.integer(type, at: node) { path(to: key) } }
  }

  private func path(to key: Key) -> [any CodingKey] { codingPath + [key] }

  private func cursor(_ key: any CodingKey, node: Int) -> JSONCursor {
    JSONCursor(text: object.text, node: node, path: JSONPath(key, after: object.path))
  }
}

/// A container of the members of an object.
protocol JSONMembersContainer: KeyedDecodingContainerProtocol {
  init(_ object: JSONCursor) throws
}

/// Makes the containers for one type of keys.
///
/// A generic type is searched for wherever it is named; a class has the type that it was made with.
final class JSONMembersMaker<Members: JSONMembersContainer> {
  @inline(never)
  func container(of object: JSONCursor) throws -> KeyedDecodingContainer<Members.Key> {
    KeyedDecodingContainer(try Members(object))
  }
}
