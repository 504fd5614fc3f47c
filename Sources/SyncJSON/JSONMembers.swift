/// The members of an object, decoded by key.
///
/// Everything that does not depend on the type of the keys belongs to ``JSONObject``: code of a
/// generic type is slow in other modules.
struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let object: JSONObject

  init(_ cursor: JSONCursor) throws { object = try JSONObject(cursor, keys: Key.self) }

  private var text: JSONText { object.text }

  var codingPath: [any CodingKey] { JSONPath.keys(object.path) }
  var allKeys: [Key] { object.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { value(of: key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { text.kind(of: try node(key)) == .null }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try text.bool(at: node(key)) { path(to: key) }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try text.string(at: node(key)) { path(to: key) }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try text.double(at: node(key)) { path(to: key) }
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try text.float(at: node(key)) { path(to: key) }
  }

  // The optimizer does not specialize the generic method below for a protocol's requirement.

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try text.integer(type, at: node(key)) { path(to: key) }
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try text.integer(type, at: node(key)) { path(to: key) }
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try text.integer(type, at: node(key)) { path(to: key) }
  }

  func decode<Integer: FixedWidthInteger & Decodable>(_ type: Integer.Type, forKey key: Key) throws -> Integer
  {
    try text.integer(type, at: node(key)) { path(to: key) }
  }

  // The protocol's defaults refuse these two types, and would be preferred to the generic method.

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try text.integer(type, at: node(key)) { path(to: key) }
  }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try text.integer(type, at: node(key)) { path(to: key) }
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try text.value(type, at: node(key), key: key, after: object.path)
  }

  // One search instead of the three of the defaults.

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    guard let node = object.presentValue(of: key.stringValue) else { return nil }
    return try text.bool(at: node) { path(to: key) }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    guard let node = object.presentValue(of: key.stringValue) else { return nil }
    return try text.string(at: node) { path(to: key) }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    guard let node = object.presentValue(of: key.stringValue) else { return nil }
    return try text.double(at: node) { path(to: key) }
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    guard let node = object.presentValue(of: key.stringValue) else { return nil }
    return try text.integer(type, at: node) { path(to: key) }
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    guard let node = object.presentValue(of: key.stringValue) else { return nil }
    return try text.integer(type, at: node) { path(to: key) }
  }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    guard let node = object.presentValue(of: key.stringValue) else { return nil }
    return try text.value(type, at: node, key: key, after: object.path)
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
    cursor(PayloadKey.super, node: object.value(of: "super") ?? text.missing)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    cursor(key, node: value(of: key) ?? text.missing)
  }

  private func value(of key: Key) -> Int? { object.value(of: key.stringValue) }

  private func node(_ key: Key) throws -> Int {
    if let node = value(of: key) { return node }
    throw DecodingError.keyNotFound(
      key, .init(codingPath: codingPath, debugDescription: "The object has no member of that name."))
  }

  private func path(to key: Key) -> [any CodingKey] { codingPath + [key] }

  private func cursor(_ key: any CodingKey, node: Int) -> JSONCursor {
    JSONCursor(text: text, node: node, path: JSONPath(key, after: object.path))
  }
}
