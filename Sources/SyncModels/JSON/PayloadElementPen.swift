/// The place an array's elements are encoded to.
struct PayloadElementPen: UnkeyedEncodingContainer {
  private let draft: PayloadDraft

  init(_ draft: PayloadDraft) {
    self.draft = draft
    draft.begin(.array)
  }

  var codingPath: [any CodingKey] { PayloadPath.keys(draft.path) }
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

  // The protocol has defaults for these two, which refuse them and would be preferred to the generic method.

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
    KeyedEncodingContainer(PayloadMemberPen<Nested>(opened()))
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { PayloadElementPen(opened()) }

  func superEncoder() -> any Encoder { PayloadPen(draft: opened()) }

  private var nextPath: PayloadPath { PayloadPath(PayloadKey(index: count), after: draft.path) }

  private func opened() -> PayloadDraft {
    let inner = PayloadDraft(userInfo: draft.userInfo, path: nextPath)
    draft.element { draft.insert(inner) }
    return inner
  }
}
