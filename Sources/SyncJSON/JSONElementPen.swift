/// The container that an array's elements are encoded into.
struct JSONElementPen: UnkeyedEncodingContainer {
  private let draft: JSONDraft

  init(_ draft: JSONDraft) {
    self.draft = draft
    draft.begin(.array)
  }

  var codingPath: [any CodingKey] { JSONPath.keys(draft.path) }
  var count: Int { draft.count }

  func encodeNil() {
    draft.element { draft.writeNull() }
  }

  func encode(_ value: Bool) {
    draft.element { draft.write(value) }
  }

  func encode(_ value: String) {
    draft.element { draft.write(value) }
  }

  func encode(_ value: Double) throws {
    try draft.element { try draft.write(value) { codingPath + [PayloadKey(index: count)] } }
  }

  func encode(_ value: Float) throws {
    try draft.element { try draft.write(value) { codingPath + [PayloadKey(index: count)] } }
  }

  func encode<Integer: FixedWidthInteger & Encodable>(_ value: Integer) throws {
    draft.element { draft.write(value) }
  }

  // The protocol's defaults refuse these two types, and would be preferred to the generic method.

  func encode(_ value: Int128) throws {
    draft.element { draft.write(value) }
  }

  func encode(_ value: UInt128) throws {
    draft.element { draft.write(value) }
  }

  func encode<Value: Encodable>(_ value: Value) throws {
    try draft.element { try draft.write(value, path: nextPath) }
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    KeyedEncodingContainer(JSONMemberPen<Nested>(opened()))
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { JSONElementPen(opened()) }

  func superEncoder() -> any Encoder { JSONPen(draft: opened()) }

  private var nextPath: JSONPath { JSONPath(PayloadKey(index: count), after: draft.path) }

  private func opened() -> JSONDraft {
    let inner = JSONDraft(userInfo: draft.userInfo, forms: draft.forms, path: nextPath)
    draft.element { draft.insert(inner) }
    return inner
  }
}
