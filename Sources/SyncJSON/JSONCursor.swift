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
    KeyedDecodingContainer(try JSONMembers<Key>(self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try JSONElements(self) }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { text.kind(of: node) == .null }

  func decode(_ type: Bool.Type) throws -> Bool { try text.bool(at: node) { codingPath } }

  func decode(_ type: String.Type) throws -> String { try text.string(at: node) { codingPath } }

  func decode(_ type: Double.Type) throws -> Double { try text.double(at: node) { codingPath } }

  func decode(_ type: Float.Type) throws -> Float { try text.float(at: node) { codingPath } }

  func decode<Integer: FixedWidthInteger & Decodable>(_ type: Integer.Type) throws -> Integer {
    try text.integer(type, at: node) { codingPath }
  }

  // The protocol's defaults refuse these two types, and would be preferred to the generic method.

  func decode(_ type: Int128.Type) throws -> Int128 { try text.integer(type, at: node) { codingPath } }

  func decode(_ type: UInt128.Type) throws -> UInt128 { try text.integer(type, at: node) { codingPath } }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if case .ownDecoding? = text.formPlace(of: type) { return try Value(from: self) }
    return try text.formed(type, at: node) { codingPath } ?? Value(from: self)
  }
}
