/// A position in a text, from which a value decodes itself.
///
/// It has three words, so an `any Decoder` needs no box for it.
struct JSONCursor: Decoder, SingleValueDecodingContainer {
  let text: JSONText
  let node: Int
  let path: JSONPath?

  var codingPath: [any CodingKey] { JSONPath.keys(path) }
  var userInfo: [CodingUserInfoKey: Any] { text.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let maker = text.membersMaker(for: type) else { return try newContainer(keyedBy: type) }
    // The maker is known by the type of the keys.
    return try unsafeDowncast(maker, to: JSONMembersMaker<JSONMembers<Key>>.self).container(of: self)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try JSONElements(self) }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { text.kind(of: node) == .null }

  func decode(_ type: Bool.Type) throws -> Bool { try text.bool(at: node) { codingPath } }

  func decode(_ type: String.Type) throws -> String { try text.string(at: node) { codingPath } }

  func decode(_ type: Double.Type) throws -> Double { try text.double(at: node) { codingPath } }

  func decode(_ type: Float.Type) throws -> Float { try text.float(at: node) { codingPath } }

  func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

  @inline(__always)
  private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
    try text.integer(type, at: node) { codingPath }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if case .ownDecoding? = text.formPlace(of: type) { return try Value(from: self) }
    return try formed(type)
  }

  @inline(never)
  private func newContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try JSONMembers<Key>(self))
  }

  @inline(never)
  private func formed<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try text.formed(type, at: node) { codingPath } ?? Value(from: self)
  }
}
