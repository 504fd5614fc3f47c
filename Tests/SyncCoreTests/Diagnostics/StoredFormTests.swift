import SyncCore
import SyncJSON
import SyncModels
import Testing

/// Later versions of the library read what a store keeps.
@Suite("The stored forms of values")
struct StoredFormTests {
  private static let id = RecordID(type: "t", key: "é\0")
  private static let version = Version(epoch: 1, sequence: 2, modifiedAt: Timestamp(microseconds: 3))
  private static let copy = Record(
    id: id, version: version, entityTag: "tag", schemaVersion: 2,
    payload: Payload(Array(#"{"a":1.50}"#.utf8)),
    fields: [])
  private static let stamp = EditStamp(physical: Timestamp(microseconds: 9), counter: 1, replica: "r")

  private func check<Value: Codable & Equatable>(_ value: Value, _ stored: String) throws {
    #expect(String(decoding: try JSONByteEncoder().encode(value), as: UTF8.self) == stored)
    #expect(try JSONByteDecoder().decode(Value.self, from: Array(stored.utf8)[...]) == value)
  }

  private static let copyText =
    ##"{"id":{"type":"t","key":"é\u0000"},"version":{"epoch":1,"sequence":2,"modifiedAt":3},"entityTag":"tag","schemaVersion":2,"payload":"{\"a\":1.50}"}"##

  @Test func areWhatTheyWere() throws {
    let (id, version) = (#"{"type":"t","key":"é\u0000"}"#, #"{"epoch":1,"sequence":2,"modifiedAt":3}"#)
    try check(Self.copy, Self.copyText)
    try check(
      WithheldChange(
        key: .record(Self.id), kind: .parked, change: .upsert(Self.copy), reason: "why", waitsFor: [Self.id],
        pass: 4, finder: .sync(fence: 5), since: Timestamp(microseconds: 6)),
      #"{"key":{"record":{"_0":\#(id)}},"kind":"parked","change":{"upsert":{"_0":\#(Self.copyText)}},"reason":"why","waitsFor":[\#(id)],"pass":4,"finder":{"sync":{"fence":5}},"since":6}"#
    )
    try check(
      WithheldChange(
        key: .bytes("t", digest: .max), kind: .quarantined,
        change: .malformed(MalformedRecord(type: "t", bytes: Payload([0xFF, 0x00]), reason: "bad")),
        reason: "",
        pass: 0, finder: .store, since: Timestamp(microseconds: 0)),
      #"{"key":{"bytes":{"_0":"t","digest":18446744073709551615}},"kind":"quarantined","change":{"malformed":{"_0":{"type":"t","bytes":[255,0],"reason":"bad"}}},"reason":"","waitsFor":[],"pass":0,"finder":{"store":{}},"since":0}"#
    )
    let stamp = #"{"physical":9,"counter":1,"replica":"r"}"#
    let upsert = #"{"upsert":{"_0":"{}","schemaVersion":1}}"#
    let edit = Edit(.upsert(Payload(Array("{}".utf8)), schemaVersion: 1), stamp: Self.stamp)
    try check(
      OutboxEntry(
        id: Self.id, edit: edit, base: .copy(Self.copy), sent: Edit(.deletion, stamp: Self.stamp),
        state: .refused(reason: "no", at: Timestamp(microseconds: 7)), attempts: 3,
        author: .rebuild(.init(lastWrite: Self.stamp, pass: 8, winner: Self.id)), leaves: [Self.id]),
      #"{"id":\#(id),"edit":{"content":\#(upsert),"stamp":\#(stamp)},"base":{"copy":{"_0":\#(Self.copyText)}},"sent":{"content":{"deletion":{}},"stamp":\#(stamp)},"state":{"refused":{"reason":"no","at":7}},"attempts":3,"author":{"rebuild":{"_0":{"lastWrite":\#(stamp),"pass":8,"winner":\#(id)}}},"leaves":[\#(id)]}"#
    )
    let gone = Tombstone(id: Self.id, version: Self.version)
    try check(
      Conflict(
        number: 1, id: Self.id, settledAt: Timestamp(microseconds: 2), local: edit, remote: .tombstone(gone),
        remoteStamp: Self.stamp, base: nil, winner: .merged, reason: "both"),
      #"{"number":1,"id":\#(id),"settledAt":2,"local":{"content":\#(upsert),"stamp":\#(stamp)},"remote":{"tombstone":{"_0":{"id":\#(id),"version":\#(version)}}},"remoteStamp":\#(stamp),"winner":"merged","reason":"both"}"#
    )
  }

  private func check(_ value: some StoredForm & Equatable, _ stored: String) throws {
    #expect(String(decoding: value.json, as: UTF8.self) == stored)
    #expect(try type(of: value).init(json: Array(stored.utf8)) == value)
  }

  @Test func ofWhatEachSyncReadsAreWhatTheyWere() throws {
    var checkpoint = Checkpoint(
      scope: Checkpoint.Scope(source: "s", query: "q", schemaVersion: 1, store: "x"))
    let scope = #"{"schemaVersion":1,"source":"s","query":"q","store":"x"}"#
    try check(checkpoint, #"{"scope":\#(scope),"lastPass":0,"epoch":0,"sweptPass":0}"#)
    (checkpoint.committed, checkpoint.committedAt) = (SyncToken("é"), Timestamp(microseconds: 1))
    checkpoint.inFlight = Checkpoint.Pass(
      number: 6, base: SyncToken("b"), coverage: .delta, resumeAt: PageToken("p"),
      candidate: SyncToken("c"), fetched: 7, total: 8)
    (checkpoint.lastPass, checkpoint.epoch, checkpoint.sweptPass, checkpoint.sweptFence) = (6, 2, 3, 4)
    (checkpoint.deletionsVerifiedAt, checkpoint.needsSecondListing) = (Timestamp(microseconds: 5), true)
    checkpoint.hasNewQuery = true
    checkpoint.sweep = Checkpoint.Sweep(pass: 6, listed: 9, refusal: .massDeletion(missing: 1, of: 2))
    let parts =
      #""committed":"é","committedAt":1,"inFlight":{"number":6,"fetched":7,"coverage":"delta","base":"b","resumeAt":"p","candidate":"c","total":8},"sweptFence":4,"deletionsVerifiedAt":5,"needsSecondListing":true,"hasNewQuery":true"#
    try check(
      checkpoint,
      #"{"scope":\#(scope),"lastPass":6,"epoch":2,"sweptPass":3,\#(parts),"sweep":{"pass":6,"listed":9,"missing":1,"of":2}}"#
    )
    checkpoint.sweep = Checkpoint.Sweep(pass: 6, refusal: .unidentifiedMalformed(3))
    try check(
      checkpoint,
      #"{"scope":\#(scope),"lastPass":6,"epoch":2,"sweptPass":3,\#(parts),"sweep":{"pass":6,"unidentified":3}}"#
    )
    var status = PassOutcomes()
    try check(status, #"{"consecutiveFailures":0,"successes":0,"failures":0}"#)
    (status.lastSuccess, status.lastAttempt) = (Timestamp(microseconds: 1), Timestamp(microseconds: 2))
    status.lastError = PassOutcomes.Failure(code: "c", message: "m", retryAt: Timestamp(microseconds: 3))
    (status.consecutiveFailures, status.successes, status.failures) = (4, 5, 6)
    let failure = #"{"code":"c","message":"m","retryAt":3}"#
    try check(
      status,
      #"{"consecutiveFailures":4,"successes":5,"failures":6,"lastSuccess":1,"lastAttempt":2,"lastError":\#(failure)}"#
    )
    var sync = PastSync(number: 1, fence: 2, triggers: ["a", "b"], began: Timestamp(microseconds: 3))
    try check(
      sync, #"{"number":1,"fence":2,"triggers":["a","b"],"began":3,"outcome":"running","seconds":0.0}"#)
    (sync.outcome, sync.seconds, sync.failure) = (.failed, 0.25, status.lastError)
    sync.typeFailures = try [PastSync.TypeFailure("t", #require(status.lastError))]
    (sync.counts, sync.pushed) = (["t": ["inserted": 1]], ["accepted": 2])
    (sync.bytes, sync.retries, sync.fetchingSeconds, sync.writingSeconds) = (3, 4, 0.5, 1e-7)
    try check(
      sync,
      #"{"number":1,"fence":2,"triggers":["a","b"],"began":3,"outcome":"failed","seconds":0.25,"failure":\#(failure),"typeFailures":[{"type":"t","failure":\#(failure)}],"counts":{"t":{"inserted":1}},"pushed":{"accepted":2},"bytes":3,"retries":4,"fetchingSeconds":0.5,"writingSeconds":1e-07}"#
    )
  }

  @Test func leaveOutTheFieldsThatADeclarationReads() throws {
    var copy = Self.copy
    copy.fields = [1, .string("x")]
    try check(RecordChange.upsert(copy).withoutFields, #"{"upsert":{"_0":\#(Self.copyText)}}"#)
    let entry = OutboxEntry(id: Self.id, edit: Edit(.deletion, stamp: Self.stamp), base: .copy(copy))
    #expect(entry.withoutFields.base == .copy(Self.copy))
  }
}
