import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

/// A new version of an app reads, pushes and pulls in its own form what older versions have written.
@Suite("Upgrades of an app's model", .timeLimit(.minutes(10)))
struct ModelUpgradeTests {
  struct Unnamed: Error, CustomStringConvertible {
    let description = "It has no name."
  }

  private static func notes(_ version: Int) -> Entity {
    Entity("notes", schemaVersion: version, schemaVersionField: "v", indexes: ["title"])
  }

  /// Version 2 calls `name` `title`; version 3 has its length.
  private static let upgrades = [
    ModelUpgrade("notes", to: 2) { note in
      guard let name = note["name"] else { throw Unnamed() }
      note["title"] = name
      note["name"] = nil
    },
    ModelUpgrade("notes", to: 3) { note in
      note["length"] = Array("\((note["title"]?.count ?? 2) - 2)".utf8)[...]
    },
  ]

  private let remote: InMemoryRemote
  private let store = InMemoryStore(identity: "a")
  private let clock = ManualClock()
  private let recorder = EventRecorder()

  init() {
    remote = InMemoryRemote(configuration: .privateZone, clock: clock)
  }

  private struct Note: SyncedRecord, Encodable {
    static let recordType: RecordType = "notes"
    var title: String?
  }

  @Test func isNotShownToAnEarlierVersionThatIsInstalledAgain() async throws {
    let new = try await engine(2)
    try await set(new, "n1", ["title": #""new""#, "v": "2"])
    _ = try await new.sync()
    let old = try await engine(1)
    try await set(old, "n2", ["title": #""old""#])
    let read = try await old.records.all(Note.self)
    #expect(read.map(\.key) == ["n2"] && read.leftOut.map(\.id.key) == ["n1"])
    #expect(read.leftOut[0].reason.contains("schema version 2"))
    await #expect(
      performing: { try await old.records.find(Note.self, key: "n1") },
      throws: {
        ($0 as? SyncError)?.code == .undecodable
      })
    #expect(try await old.records.undecodable(Note.self).map(\.id.key) == ["n1"])
    #expect(try await engine(2).records.all(Note.self).count == 2)
  }

  private func engine(
    _ version: Int, _ upgrades: [ModelUpgrade] = Self.upgrades, on store: InMemoryStore? = nil,
    sink: (any RemoteRecordSink)? = nil
  ) async throws -> SyncEngine {
    try await SyncEngine(
      schema: SyncSchema(Self.notes(version)), store: store ?? self.store, source: remote,
      sink: sink ?? remote, clock: clock, upgrades: upgrades.filter { $0.version <= version },
      observers: [recorder], random: RepeatedNumber())
  }

  private func here(_ store: InMemoryStore? = nil) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: (store ?? self.store).records(of: "notes").map {
        ($0.id.key, String(decoding: $0.payload.withoutEditStamp.bytes, as: UTF8.self))
      })
  }

  private var there: [String: String] {
    Dictionary(
      uniqueKeysWithValues: remote.records(of: "notes").map {
        ($0.key, String(decoding: $0.payload.withoutEditStamp.bytes, as: UTF8.self))
      })
  }

  private func set(_ engine: SyncEngine, _ key: String, _ members: [FieldName: String]) async throws {
    clock.advance(by: .seconds(1))
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "notes", key: key)) { (fields) throws(SyncError) in
        for (name, value) in members.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
          fields[name] = Array(value.utf8)[...]
        }
      }
    }
  }

  @Test func convertWhatTheStoreHasOnceAndPushNothing() async throws {
    for number in 1...1200 {
      remote.upsert("notes", "n\(number)", #"{"v":1,"name":"N\#(number)"}"#)
    }
    remote.upsert("notes", "odd", #"{"v":1,"text":"no name"}"#)
    _ = try await engine(1).sync()
    let new = try await engine(3)
    let report = try await new.upgradeModels()
    #expect(report.converted == 1200 && report.failed.map(\.id.key) == ["odd"])
    #expect(report.failed.first?.reason.contains("It has no name.") == true)
    #expect(here()["n7"] == #"{"v":1,"title":"N7","length":2}"#)
    #expect(here()["odd"] == #"{"v":1,"text":"no name"}"#)
    let again = try await new.upgradeModels()
    #expect(again.converted == 0 && again.failed.isEmpty)
    #expect(try await new.edits.pending("notes").isEmpty)
    // The declaration has changed, so everything is listed again, in the old form.
    let result = try await new.sync()
    #expect(result.total.updated == 0 && here()["n7"] == #"{"v":1,"title":"N7","length":2}"#)
    #expect(there["n7"] == #"{"v":1,"name":"N7"}"#)
    let query = Query("notes", where: .equal("title", "N7"))
    let found = try await store.read { (snapshot) throws(SyncError) in try snapshot.count(query) }
    #expect(found == 1)
  }

  @Test func pushPendingEditsInTheNewForm() async throws {
    remote.upsert("notes", "a", #"{"v":1,"name":"A","x":1}"#)
    let old = try await engine(1)
    _ = try await old.sync()
    try await set(old, "a", ["name": #""AA""#])
    try await set(old, "b", ["name": #""B""#])
    let new = try await engine(2)
    _ = try await new.sync()
    #expect(there["a"] == #"{"v":2,"x":1,"title":"AA"}"# && there["b"] == #"{"v":2,"title":"B"}"#)
    #expect(here() == there)
    #expect(try await new.edits.pending("notes").isEmpty)
  }

  @Test func leaveAnEditWhoseAnswerWasLostAsItWasSent() async throws {
    let losing = LosingSink(remote)
    let old = try await engine(1, sink: losing)
    try await set(old, "b", ["name": #""B""#])
    losing.losesAnswers.withLock { $0 = true }
    _ = try? await old.push()
    losing.losesAnswers.withLock { $0 = false }
    #expect(try await old.edits.pending("notes").first?.sent != nil)
    let new = try await engine(2, sink: losing)
    _ = try await new.sync()
    _ = try await new.sync()
    #expect(remote.pushEffects.count <= 2 && here()["b"]?.contains(#""title":"B""#) == true)
    #expect(try await new.edits.pending("notes").isEmpty)
  }

  @Test func convertWhatOlderDevicesWriteLater() async throws {
    let other = InMemoryStore(identity: "b")
    let old = try await engine(1, on: other)
    let new = try await engine(2)
    try await set(old, "c", ["name": #""C""#])
    _ = try await old.sync()
    _ = try await new.sync()
    #expect(here()["c"] == #"{"name":null,"v":1}"# || here()["c"] == #"{"v":1,"title":"C"}"#)
    // An edit of it is in the new form, with its version. The old device keeps what it understands.
    try await set(new, "c", ["title": #""CC""#])
    #expect(here()["c"] == #"{"v":2,"title":"CC"}"#)
    _ = try await new.sync()
    #expect(there["c"] == #"{"v":2,"title":"CC"}"#)
    let result = try await old.sync()
    #expect(result.total.skippedIncompatible == 1)
  }

  @Test func areNoEditsWhereTheAppWritesWhatIsThere() async throws {
    remote.upsert("notes", "a", #"{"v":1,"name":"A"}"#)
    let new = try await engine(2)
    _ = try await new.sync()
    try await set(new, "a", ["title": #""A""#])
    #expect(try await new.edits.pending("notes").isEmpty)
  }

  @Test func resumeWhereTheyWereStopped() async throws {
    for number in 1...1200 { remote.upsert("notes", "n\(number)", #"{"v":1,"name":"N\#(number)"}"#) }
    let old = try await engine(1)
    _ = try await old.sync()
    try await set(old, "n5", ["name": #""five""#])
    let calls = Mutex(0)
    let counting = [
      ModelUpgrade("notes", to: 2) { note in
        calls.withLock { $0 += 1 }
        note["title"] = note["name"]
        note["name"] = nil
      }
    ]
    let token = CancellationSource()
    let stopping = [
      ModelUpgrade("notes", to: 2) { note in
        token.cancel()
        note["title"] = note["name"]
        note["name"] = nil
      }
    ]
    let report = try await engine(2, stopping).upgradeModels(token: token)
    #expect(report.wasCancelled && report.converted > 0 && report.converted < 1200)
    _ = try await engine(2, counting).sync()
    #expect(here().values.allSatisfy { $0.contains("title") && !$0.contains("name") })
    #expect(there["n5"] == #"{"v":2,"title":"five"}"#)
  }

  @Test func areCheckedAtSetUp() async throws {
    let wrong = [
      [ModelUpgrade("notes", to: 4) { _ in }], [ModelUpgrade("notes", to: 1) { _ in }],
      [ModelUpgrade("games", to: 2) { _ in }],
      [ModelUpgrade("notes", to: 2) { _ in }, ModelUpgrade("notes", to: 2) { _ in }],
    ]
    for upgrades in wrong {
      await #expect {
        try await SyncEngine(
          schema: SyncSchema(Self.notes(3)), store: store, source: remote, upgrades: upgrades)
      } throws: {
        ($0 as? SyncError)?.code == .invalidConfiguration
      }
    }
  }

  /// A sink whose answers may be lost after the remote has applied the edits.
  private final class LosingSink: RemoteRecordSink {
    let base: InMemoryRemote
    let losesAnswers = Mutex(false)

    init(_ base: InMemoryRemote) { self.base = base }

    var identity: String { base.identity }
    var keepsUnknownMembers: Bool { base.keepsUnknownMembers }

    func limits() async throws(SyncError) -> SinkLimits { try await base.limits() }

    func push(_ changes: [OutgoingChange], entities: SyncSchema) async throws(SyncError) -> [PushOutcome] {
      let answers = try await base.push(changes, entities: entities)
      if losesAnswers.withLock({ $0 }) {
        throw SyncError(.remoteUnavailable, during: "pushing", "The answer is lost.")
      }
      return answers
    }
  }
}
