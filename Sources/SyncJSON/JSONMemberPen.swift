/// The container that an object's members are encoded into.
struct JSONMemberPen<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let draft: JSONDraft

  init(_ draft: JSONDraft) {
    self.draft = draft
    draft.begin(.object)
  }

  var codingPath: [any CodingKey] { JSONPath.keys(draft.path) }

  func encodeNil(forKey key: Key) {
    draft.member(key) { draft.writeNull() }
  }

  func encode(_ value: Bool, forKey key: Key) {
    draft.member(key) { draft.write(value) }
  }

  func encode(_ value: String, forKey key: Key) {
    draft.member(key) { draft.write(value) }
  }

  func encode(_ value: Double, forKey key: Key) throws {
    try draft.member(key) { try draft.write(value) { codingPath + [key] } }
  }

  func encode(_ value: Float, forKey key: Key) throws {
    try draft.member(key) { try draft.write(value) { codingPath + [key] } }
  }

  func encode<Integer: FixedWidthInteger & Encodable>(_ value: Integer, forKey key: Key) throws {
    draft.member(key) { draft.write(value) }
  }

  // The protocol's defaults refuse these two types, and would be preferred to the generic method.

  func encode(_ value: Int128, forKey key: Key) throws {
    draft.member(key) { draft.write(value) }
  }

  func encode(_ value: UInt128, forKey key: Key) throws {
    draft.member(key) { draft.write(value) }
  }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try draft.member(key) { try draft.write(value, path: JSONPath(key, after: draft.path)) }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(JSONMemberPen<Nested>(opened(key)))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    JSONElementPen(opened(key))
  }

  func superEncoder() -> any Encoder { JSONPen(draft: opened(PayloadKey.super)) }

  func superEncoder(forKey key: Key) -> any Encoder { JSONPen(draft: opened(key)) }

  private func opened(_ key: some CodingKey) -> JSONDraft {
    let inner = JSONDraft(
      userInfo: draft.userInfo, forms: draft.forms, path: JSONPath(key, after: draft.path))
    draft.member(key) { draft.insert(inner) }
    return inner
  }
}
