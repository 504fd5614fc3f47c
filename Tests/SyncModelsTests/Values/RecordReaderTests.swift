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
}
