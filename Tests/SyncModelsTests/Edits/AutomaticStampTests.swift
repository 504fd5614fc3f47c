import SyncJSON
import Testing

@testable import SyncModels

@Suite("The stamp inside a record")
struct AutomaticStampTests {
  private let stamp = EditStamp(
    physical: Timestamp(microseconds: 1_700_000_000_000_000), counter: 3, replica: #"a "b" @c"#)

  private func payload(_ json: String) -> Payload { Payload(Array(json.utf8)) }

  private func text(_ payload: Payload) -> String { String(decoding: payload.bytes, as: UTF8.self) }

  /// Whether a stamped object still carries its stamp after another writer respelled it.
  private func isCarried(
    by stamped: String, respelled change: (String) -> String, ignoring own: [FieldName] = []
  ) -> Bool {
    let copy = change(text(payload(stamped).stamped(stamp, ignoring: own)))
    return EditStamp(carriedBy: payload(copy), ignoring: own) == stamp
  }

  private func digest(_ json: String) throws -> UInt64 {
    try MemberDigest(of: Array(json.utf8)[...], finding: FieldName.editStamp.rawValue, ignoring: ["id"]).value
  }

  @Test(arguments: [
    "{}", #"{ }"#, #"{"a":1}"#, #" {"a":[1,{"b":null}],"c":"}"} "#, #"{"canonicalSyncStamp":7,"a":1}"#,
    #"{"a":{"canonicalSyncStamp":"inner"}}"#,
  ])
  func isReadBackFromAnyObject(_ json: String) throws {
    let stamped = payload(json).stamped(stamp, ignoring: [])
    try JSONScanner.validate(stamped.bytes)
    #expect(EditStamp(carriedBy: stamped, ignoring: []) == stamp)
    #expect(EditStamp(statedBy: stamped) == stamp)
    #expect(stamped.hasSameMembers(as: payload(json)))
    let later = EditStamp(physical: stamp.physical + .seconds(1), replica: "z")
    #expect(EditStamp(carriedBy: stamped.stamped(later, ignoring: []), ignoring: []) == later)
    #expect(stamped.stamped(later, ignoring: []).withoutEditStamp.hasSameMembers(as: payload(json)))
  }

  @Test(arguments: [
    (#"{"a":1,"b":2}"#, #"{ "b" : 2 , "a" : 1 }"#),
    (#"{"a":1.50,"b":100}"#, #"{"a":15e-1,"b":1.0E+2}"#),
    (#"{"a":0,"b":-0.0}"#, #"{"a":0e9,"b":0}"#),
    (#"{"a":"é\n/","é":1}"#, #"{"a":"\u00e9\u000a\/","\u00E9":1}"#),
    (#"{"a":"😀"}"#, #"{"a":"\ud83d\ude00"}"#),
    (#"{"a":{"x":[1,2],"y":{}}}"#, #"{"a":{"y":{ },"x":[1.0,20e-1]}}"#),
    (#"{"id":"k","a":1}"#, #"{"a":1,"id":"other"}"#),
    (#"{"a":12345678901234567890123}"#, #"{"a":1234567890123456789012300e-2}"#),
  ])
  func digestsWhatASpellingSays(_ one: String, _ other: String) throws {
    #expect(try digest(one) == digest(other))
  }

  @Test(arguments: [
    (#"{"a":1}"#, #"{"a":2}"#), (#"{"a":1}"#, #"{"a":-1}"#), (#"{"a":1}"#, #"{"a":"1"}"#),
    (#"{"a":1}"#, #"{"a":10}"#), (#"{"a":101}"#, #"{"a":11}"#), (#"{"a":null}"#, #"{}"#),
    (#"{"a":[]}"#, #"{"a":{}}"#), (#"{"a":[1,2]}"#, #"{"a":[2,1]}"#), (#"{"a":[[1],2]}"#, #"{"a":[1,[2]]}"#),
    (#"{"a":1,"b":2}"#, #"{"a":2,"b":1}"#), (#"{"a":{"b":1}}"#, #"{"b":{"a":1}}"#),
    (#"{"a":true}"#, #"{"a":false}"#), (#"{"a":""}"#, #"{"a":"\u0000"}"#),
    (#"{"a":{"id":1}}"#, #"{"a":{"id":2}}"#),
    (#"{"a":1}"#, #"{"a":18446744073709551617}"#), (#"{"a":0}"#, #"{"a":18446744073709551616}"#),
  ])
  func tellsWhatIsNotTheSame(_ one: String, _ other: String) throws {
    #expect(try digest(one) != digest(other))
  }

  @Test func holdsWhereverTheRecordWasRespelled() {
    #expect(isCarried(by: #"{"a":1.50,"b":"é"}"#) { $0.replacing("1.50", with: "1.5") })
    #expect(isCarried(by: #"{"a":1.50,"b":"é"}"#) { $0.replacing("é", with: #"\u00e9"#) })
    #expect(
      isCarried(by: #"{"a":1}"#, respelled: { $0.replacing("{", with: #"{"seen":1,"#) }, ignoring: ["seen"]))
  }

  @Test func doesNotHoldForWhatAnotherWriterMadeOfTheRecord() {
    #expect(!isCarried(by: #"{"a":1}"#) { $0.replacing(#""a":1"#, with: #""a":2"#) })
    #expect(!isCarried(by: #"{"a":1}"#) { $0.replacing("{", with: #"{"more":1,"#) })
    #expect(!isCarried(by: #"{"a":1}"#) { $0.replacing("1700", with: "x") })
    let other = payload(#"{"a":2,"canonicalSyncStamp":"0000000000000000 5.0@a"}"#)
    #expect(EditStamp(carriedBy: other, ignoring: []) == nil)
    #expect(EditStamp(statedBy: other) == EditStamp(physical: Timestamp(microseconds: 5), replica: "a"))
    #expect(EditStamp(statedBy: payload(#"{"canonicalSyncStamp":[1]}"#)) == nil)
    #expect(EditStamp(statedBy: payload(#"{"canonicalSyncStamp":"5.0@a"}"#)) == nil)
  }

  @Test(arguments: ["", "[]", "7", #"{"a":"#, "null"])
  func isWrittenIntoNothingButObjects(_ json: String) {
    #expect(payload(json).stamped(stamp, ignoring: []) == payload(json))
    #expect(EditStamp(carriedBy: payload(json), ignoring: []) == nil)
  }

  /// Records travel between versions of the library: later versions must read this version's
  /// format.
  @Test func isSpelledAsItAlwaysWas() {
    #expect(
      text(
        payload(#"{"id":"k","name":"Käse","n":[1.50,true,null,{"x":"y"}]}"#).stamped(stamp, ignoring: ["id"]))
        == #"{"id":"k","name":"Käse","n":[1.50,true,null,{"x":"y"}],"canonicalSyncStamp":"5e9024f8bd612311 1700000000000000.3@a \"b\" @c"}"#
    )
  }

  @Test func declarationsKeepWhereStampsAre() throws {
    for entity in [
      Entity("a"), Entity("a", stampField: "edited"), Entity("a", stamping: .none),
      Entity("a", stamping: .field("edited")),
    ] {
      let stored = try JSONByteEncoder().encode(entity)
      #expect(try JSONByteDecoder().decode(Entity.self, from: stored[...]) == entity)
    }
    // The format of an earlier version of the library.
    let old =
      #"{"type":"a","schemaVersion":1,"references":[],"indexes":["x"],"stampField":"t","visibility":"perPage","fields":["x"]}"#
    #expect(
      try JSONByteDecoder().decode(Entity.self, from: Array(old.utf8)[...])
        == Entity("a", indexes: ["x"], stampField: "t"))
    #expect(throws: SyncError.self) { try SyncSchema(Entity("a", indexes: [.editStamp])) }
  }
}
