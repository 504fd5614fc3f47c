/// The encoder that a value encodes itself into.
struct JSONPen: Encoder, SingleValueEncodingContainer {
  let draft: JSONDraft

  var codingPath: [any CodingKey] { JSONPath.keys(draft.path) }
  var userInfo: [CodingUserInfoKey: Any] { draft.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    draft.keys = type
    return KeyedEncodingContainer(JSONMemberPen<Key>(draft))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { JSONElementPen(draft) }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() {
    draft.scalar { draft.writeNull() }
  }

  func encode(_ value: Bool) {
    draft.scalar { draft.write(value) }
  }

  func encode(_ value: String) {
    draft.scalar { draft.write(value) }
  }

  func encode(_ value: Double) throws {
    try draft.scalar { try draft.write(value) { codingPath } }
  }

  func encode(_ value: Float) throws {
    try draft.scalar { try draft.write(value) { codingPath } }
  }

  func encode<Integer: FixedWidthInteger & Encodable>(_ value: Integer) throws {
    draft.scalar { draft.write(value) }
  }

  // The protocol's defaults refuse these two types, and would be preferred to the generic method.

  func encode(_ value: Int128) throws {
    draft.scalar { draft.write(value) }
  }

  func encode(_ value: UInt128) throws {
    draft.scalar { draft.write(value) }
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    try draft.scalar { try draft.write(value, path: draft.path) }
  }
}
