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

  /// The remote writes one member anew for each answer, and another one itself.
  @Test(arguments: [true, false]) func leavesWhatWasSentAsItIsWhereItIsTheBase(wasSent: Bool) throws {
    let known = copy(#"{"name":1,"number":1,"served":1}"#)
    let edit = Edit(
      .upsert(Payload(Array(#"{"name":2,"number":1,"served":1}"#.utf8)), schemaVersion: 1),
      stamp: EditStamp(physical: Timestamp(microseconds: 2)))
    let entry = OutboxEntry(
      id: known.id, edit: edit, base: .copy(known), sent: wasSent ? edit : nil, attempts: 1)
    let traits = Entity.RemoteTraits(serverManagedFields: ["number"])
    let settler = EditSettler(
      entity: try #require(SyncSchema(Entity("t")).synced(with: traits)["t"]), policy: LastWriteWins(),
      maximumClockSkew: .seconds(300), now: Timestamp(milliseconds: 5000))
    let settlement = settler.meeting(.copy(copy(#"{"name":1,"number":2,"served":2}"#)), entry)
    #expect(settlement.conflict == nil && settlement.entry?.sent == entry.sent)
    #expect((settlement.entry == entry) == wasSent)
  }
}
