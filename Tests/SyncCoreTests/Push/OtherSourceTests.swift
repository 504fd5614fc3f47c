import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

/// A store with pending edits changes from one remote to another.
@Suite("Edits made on another remote's copies", .timeLimit(.minutes(10)))
struct OtherSourceTests {
  private static let meters = Entity("meters")

  private struct Exchange {
    var first: PushWorld
    var other: InMemoryRemote
    var engine: SyncEngine

    init() async throws {
      first = try await PushWorld([OtherSourceTests.meters])
      other = InMemoryRemote(identity: "another", clock: first.clock)
      for key in ["m1", "m2"] {
        first.remote.upsert("meters", key, #"{"name":0}"#)
        other.upsert("meters", key, #"{"name":7,"precious":true}"#)
      }
      _ = try await first.engine.sync()
      engine = try await SyncEngine(
        schema: first.engine.schema, store: first.store, source: other, sink: other, clock: first.clock,
        random: RepeatedNumber())
    }

    func there() -> [String: String] {
      Dictionary(
        uniqueKeysWithValues: other.records(of: "meters").map {
          ($0.key, String(decoding: $0.payload.withoutEditStamp.bytes, as: UTF8.self))
        })
    }
  }

  @Test func meetItsRecordsAsConflictsAndNeverOverwriteThemUnseen() async throws {
    let exchange = try await Exchange()
    try await exchange.first.write("meters", "m1")
    try await exchange.first.delete("meters", "m2")
    try await exchange.first.write("meters", "m3")
    _ = try await exchange.engine.sync()
    let sent = exchange.other.pushLog.joined()
    let epoch = try await exchange.first.store.read { (snapshot) throws(SyncError) in
      try snapshot.checkpoint(for: "meters")?.epoch
    }
    #expect(sent.allSatisfy { $0.base.version.map { $0.epoch == epoch } ?? true }, "no foreign base is sent")
    #expect(!sent.contains { $0.content == .deletion }, "what was deleted elsewhere is not deleted here")
    let conflicts = try await exchange.engine.edits.conflicts()
    #expect(conflicts.map(\.id.key) == ["m1"])
    #expect(exchange.there()["m2"] == #"{"name":7,"precious":true}"#)
    #expect(exchange.there()["m3"] == #"{"name":1}"#)
    _ = try await exchange.engine.sync()
    #expect(exchange.first.here() == exchange.there())
    #expect(try await exchange.engine.edits.pending("meters").isEmpty)
  }

  /// The same records under another address, where new ones get keys of the remote's own.
  @Test func areNotMadeAgainByARemoteThatGivesKeys() async throws {
    let first = try await PushWorld([Self.meters]) { $0.assignsKeys = true }
    first.remote.upsert("meters", "m1", #"{"name":0}"#)
    _ = try await first.engine.sync()
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.assignsKeys = true
    let other = InMemoryRemote(identity: "another", configuration: configuration, clock: first.clock)
    other.upsert("meters", "m1", #"{"name":0}"#)
    try await first.write("meters", "m1")
    let engine = try await SyncEngine(
      schema: first.engine.schema, store: first.store, source: other, sink: other, clock: first.clock,
      random: RepeatedNumber())
    for _ in 1...2 { _ = try await engine.sync() }
    #expect(other.records(of: "meters").map(\.key) == ["m1"])
    #expect(first.here() == ["m1": #"{"name":1}"#])
    #expect(try await engine.edits.pending("meters").isEmpty)
  }

  /// Rows that have not been listed again still belong to the old remote.
  @Test func alsoWhereTheyAreMadeBeforeItIsListed() async throws {
    let exchange = try await Exchange()
    _ = try await exchange.engine.push()
    try await exchange.first.write("meters", "m1")
    _ = try await exchange.engine.push()
    #expect(exchange.other.pushLog.joined().first?.base == OutboxEntry.Base.none)
    #expect(try await exchange.engine.edits.conflicts().count == 1)
    _ = try await exchange.engine.sync()
    #expect(exchange.first.here() == exchange.there())
  }

  @Test func meetNoCopyThatAnotherRemoteLeftWaiting() async throws {
    let first = try await PushWorld()
    first.remote.upsert("readings", "r", #"{"meter":"m9","value":1}"#)
    _ = try await first.engine.sync()
    let other = InMemoryRemote(identity: "another", clock: first.clock)
    let engine = try await SyncEngine(
      schema: first.engine.schema, store: first.store, source: other, sink: other, clock: first.clock,
      random: RepeatedNumber())
    try await first.write("readings", "r", ["value": "2"])
    _ = try await engine.sync()
    #expect(other.pushLog.joined().map(\.base) == [.none])
    #expect(try await engine.edits.conflicts().isEmpty)
    #expect(first.here("readings") == ["r": #"{"value":2}"#])
    #expect(other.records(of: "readings").map(\.key) == ["r"])
    #expect(try await engine.status().allSatisfy { $0.withheld.isEmpty })
  }

  /// What the copy waited for arrives from the new remote, before the edit is taken.
  @Test func meetNoSuchCopyAlsoWhereItsWaitingEnds() async throws {
    let first = try await PushWorld(configure: { $0.numberField = "number" })
    first.remote.upsert("readings", "r", #"{"meter":"m9","value":1}"#)
    _ = try await first.engine.sync()
    let other = InMemoryRemote(
      identity: "another", configuration: first.remote.configuration, clock: first.clock)
    other.upsert("meters", "m9", "{}")
    other.recordQuota = 1
    let engine = try await SyncEngine(
      schema: first.engine.schema, store: first.store, source: other, sink: other, clock: first.clock,
      random: RepeatedNumber())
    try await first.write("readings", "r", ["value": "2"])
    _ = try await engine.sync()
    #expect(first.here("readings") == ["r": #"{"value":2}"#], "nothing of the first remote's copy")
    #expect(try await first.outbox("readings").map(\.base) == [.none])
    other.recordQuota = nil
    _ = try await engine.sync()
    #expect(Set(other.pushLog.joined().filter { $0.id.key == "r" }.map(\.content)).count == 1)
    #expect(other.records(of: "readings").map(\.key) == ["r"])
  }

  @Test func areNewToItWhereTheFirstRemoteHasRefusedThem() async throws {
    let exchange = try await Exchange()
    exchange.first.remote.rule(.refused(reason: "no"), on: "meters", "m3")
    try await exchange.first.write("meters", "m3")
    #expect(try await exchange.first.engine.sync().pushed.refused == 1)
    #expect(try await exchange.engine.sync().pushed.accepted == 1)
    #expect(exchange.there()["m3"] == #"{"name":1}"#)
  }

  private enum Failure: CaseIterable { case failing, postponed, unanswered }

  /// An insertion, a change and a deletion, none of which the first remote has accepted.
  @Test(arguments: Failure.allCases)
  private func areNewToItWhereTheFirstRemoteHasFailedAtThem(_ failure: Failure) async throws {
    let exchange = try await Exchange()
    let first = exchange.first
    let error = SyncError(failure == .failing ? .invalidResponse : .offline, during: "testing")
    switch failure {
    case .failing: first.remote.behave(.fail(error), onNextPushes: 1000)
    case .unanswered: first.remote.behave(.loseAnswer(error), onNextPushes: 1)
    case .postponed:
      for key in ["m1", "m2", "m3"] {
        first.remote.rule(.retryLater(after: .seconds(3600)), on: "meters", key)
      }
    }
    try await first.write("meters", "m1")
    try await first.delete("meters", "m2")
    try await first.write("meters", "m3")
    _ = try? await first.engine.sync()
    #expect(try await first.outbox().count == 3)
    for _ in 1...2 {
      _ = try await exchange.engine.sync()
      // The engine keeps the pause that the first remote has asked for.
      first.clock.advance(by: .seconds(3600))
    }
    let sent = exchange.other.pushLog.joined()
    let epoch = try await first.store.read { (snapshot) throws(SyncError) in
      try snapshot.checkpoint(for: "meters")?.epoch
    }
    #expect(sent.allSatisfy { $0.base.version.map { $0.epoch == epoch } ?? true }, "no foreign base is sent")
    #expect(!sent.contains { $0.content == .deletion }, "what was deleted elsewhere is not deleted here")
    #expect(try await exchange.engine.edits.conflicts().map(\.id.key) == ["m1"])
    #expect(exchange.there()["m2"] == #"{"name":7,"precious":true}"#)
    #expect(exchange.there()["m3"] == #"{"name":1}"#)
    #expect(first.here() == exchange.there())
    #expect(try await exchange.engine.edits.pending("meters").isEmpty)
  }

  @Test func andThereAndBackAgain() async throws {
    let exchange = try await Exchange()
    try await exchange.first.write("meters", "m1")
    _ = try await exchange.engine.push()
    exchange.first.remote.upsert("meters", "m2", #"{"name":3}"#)
    try await exchange.first.write("meters", "m2")
    _ = try await exchange.first.engine.sync()
    #expect(try await exchange.first.engine.edits.conflicts().map(\.id.key).contains("m2"))
    _ = try await exchange.first.engine.sync()
    #expect(exchange.first.here() == exchange.first.there())
    #expect(try await exchange.first.outbox().isEmpty)
  }

  /// A listing of the new remote lacked the record, and a second one was due. The app's deletion
  /// settles that.
  @Test func leaveNoNoteWhereTheyDeleteWhatAListingLacked() async throws {
    let exchange = try await Exchange()
    let other = InMemoryRemote(
      identity: "a third", configuration: .timestampedCollection(), clock: exchange.first.clock)
    let engine = try await SyncEngine(
      schema: exchange.first.engine.schema, store: exchange.first.store, source: other, sink: other,
      clock: exchange.first.clock, random: RepeatedNumber())
    _ = try await engine.sync()
    try await engine.edits.delete(RecordID(type: "meters", key: "m1"))
    for _ in 0..<2 { _ = try await engine.sync(SyncRequest(allowsMassDeletion: true)) }
    let notes = try await exchange.first.store.read { (snapshot) throws(SyncError) in
      try snapshot.withheld(for: [.record(RecordID(type: "meters", key: "m1"))])
    }
    #expect(notes.isEmpty)
  }
}
