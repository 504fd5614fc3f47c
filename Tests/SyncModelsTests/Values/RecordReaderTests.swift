import SyncModels
import Testing

@Suite("A reader of records")
struct RecordReaderTests {
  @Test(
    arguments: [
      (#""7""#, "7"), ("7", "7"), ("null", nil), (#""7","etag":null"#, nil), (#"null,"etag":"7""#, "7"),
    ] as [(String, String?)])
  func takesAMissingTagForNone(_ tag: String, _ expected: String?) {
    let reader = RecordReader(Entity("items"), layout: RecordLayout(entityTag: "etag"))
    let change = reader.read(Array(#"{"id":"a","etag":\#(tag)}"#.utf8)[...])
    guard case .upsert(let record) = change else {
      Issue.record("\(change)")
      return
    }
    #expect(record.entityTag == expected)
  }

  /// Both would read as one key.
  @Test(arguments: [#""\ud800""#, #""\udc00 ""#]) func takesNoKeyWithHalfACharacter(_ id: String) {
    let reader = RecordReader(Entity("items"), layout: RecordLayout())
    guard case .malformed(let record) = reader.read(Array("{\"id\":\(id)}".utf8)[...]) else {
      Issue.record("It is a record.")
      return
    }
    #expect(record.key == nil && record.reason.contains("half of a surrogate pair"))
    guard case .upsert = reader.read(Array(#"{"id":"\ud83d\ude00"}"#.utf8)[...]) else {
      Issue.record("A whole pair is no character.")
      return
    }
  }
}
