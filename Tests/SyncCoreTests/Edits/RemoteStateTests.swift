import Testing

@testable import SyncCore
@testable import SyncModels

@Suite("The remote's state")
struct RemoteStateTests {
  private func copy(_ json: String) -> Record {
    Record(
      id: RecordID(type: "t", key: "k"), version: Version(modifiedAt: Timestamp(microseconds: 1)),
      payload: Payload(Array(json.utf8)), fields: [])
  }

  @Test(arguments: [
    // All sent members, in any order and with any white space, plus server-managed fields.
    (#"{"b": 2,"a":1}"#, true), (#"{"a":1,"b":2,"stamp":7}"#, true),
    // Another client's copy: another value, a missing member, or a member that the edit had
    // removed.
    (#"{"a":1,"b":3}"#, false), (#"{"a":1}"#, false), (#"{"a":1,"b":2,"gone":true}"#, false),
  ])
  func acknowledgesOnlyWhatAnEditLeavesBehind(_ json: String, isAcknowledgement: Bool) {
    let base = OutboxEntry.Base.copy(copy(#"{"a":0,"gone":true}"#))
    let content = Edit.Content.upsert(Payload(Array(#"{"a":1,"b":2}"#.utf8)), schemaVersion: 1)
    #expect(RemoteState.copy(copy(json)).fulfils(content, on: base) == isAcknowledgement)
  }
}
