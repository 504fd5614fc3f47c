import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

/// Which records leave the store, and which an app may edit.
@Suite("Access to a type, drafts and forgetting", .timeLimit(.minutes(10)))
struct AccessTests {
  private let id = RecordID(type: "meters", key: "m")

  private func world(_ access: Entity.Access, _ others: [Entity] = []) async throws -> PushWorld {
    try await PushWorld([Entity("meters", access: access)] + others)
  }

  @Test func aReadOnlyTypeIsPulledAndNotEdited() async throws {
    let world = try await world(.readOnly)
    world.remote.upsert("meters", "m", #"{"name":1}"#)
    _ = try await world.engine.sync()
    #expect(world.here() == ["m": #"{"name":1}"#])
    await #expect { try await world.write("meters", "m") } throws: {
      ($0 as? SyncError)?.code == .invalidEdit
    }
    await #expect { try await world.delete("meters", "m") } throws: {
      ($0 as? SyncError)?.code == .invalidEdit
    }
    #expect(try await world.outbox().isEmpty && world.here() == ["m": #"{"name":1}"#])
  }

  /// A record that was deleted and made again has a later value, and this store must not correct it.
  @Test func aReadOnlyTypeShowsImmutableFieldsAsTheRemoteHasThem() async throws {
    let world = try await PushWorld([Entity("meters", immutable: ["made"], access: .readOnly)])
    for made in [1, 5] {
      world.remote.upsert("meters", "m", #"{"made":\#(made)}"#)
      _ = try await world.engine.sync()
      #expect(world.here() == ["m": #"{"made":\#(made)}"#])
      #expect(try await world.outbox().isEmpty)
    }
  }

  @Test func aLocalTypeNeverLeavesTheStore() async throws {
    let world = try await world(
      .local, [Entity("teams"), Entity("marks", references: [.to("teams", by: "team")], access: .local)])
    world.remote.upsert("meters", "x", #"{"name":1}"#)
    world.remote.upsert("teams", "t", #"{"name":"T"}"#)
    try await world.write("meters", "m")
    try await world.write("meters", "n")
    let result = try await world.engine.sync()
    #expect(result.failures.isEmpty && result.total.inserted == 1)
    #expect(world.there() == ["x": #"{"name":1}"#])
    #expect(world.here() == ["m": #"{"name":1}"#, "n": #"{"name":1}"#])
    #expect(try await world.outbox().isEmpty)
    // They may refer to what is synced, and survive complete listings.
    try await world.write("marks", "k", ["team": #""t""#])
    try await world.write("meters", "m", ["name": "2"])
    try await world.delete("meters", "n")
    _ = try await world.engine.resync()
    #expect(world.here() == ["m": #"{"name":2}"#] && world.here("marks") == ["k": #"{"team":"t"}"#])
    #expect(try await world.outbox("marks").isEmpty)
    #expect(try await world.engine.status().map(\.type) == ["teams"])
  }

  /// The remote has none of them, so that a listing would remove them as deleted there.
  @Test(arguments: [["name": "1"], ["name": "2"]])
  func theRecordsOfAFormerlyLocalTypeAreSentOnceTheyAreWrittenAgain(_ members: [FieldName: String])
    async throws
  {
    let local = try await world(.local)
    try await local.write("meters", "m")
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("meters")), store: local.store, source: local.remote, sink: local.remote,
      clock: local.clock)
    try await engine.edits.perform { [id] (batch) throws(SyncError) in
      try batch.set(id) { (fields) throws(SyncError) in
        for (name, value) in members { fields[name] = Array(value.utf8)[...] }
      }
    }
    for _ in 1...2 { _ = try await engine.sync() }
    let wanted = ["m": #"{"name":\#(members["name"] ?? "")}"#]
    #expect(local.there() == wanted && local.here() == wanted)
    // From then on, an equal value is no edit.
    let effects = local.remote.pushCounters.effects
    try await engine.edits.perform { [id] (batch) throws(SyncError) in try batch.set(id) { _ in } }
    #expect(try await local.outbox().isEmpty && local.remote.pushCounters.effects == effects)
  }

  @Test func aSyncedTypeCannotNeedALocalOne() {
    #expect {
      try SyncSchema(
        Entity("drafts", access: .local), Entity("notes", references: [.to("drafts", by: "draft")]))
    } throws: {
      "\($0)".contains("notes.draft refers to drafts, which is local")
    }
  }

  @Test func aRetryIsToldToObservers() async throws {
    let world = try await world(.readWrite)
    world.remote.rule(.refused(reason: "no rights"), on: "meters", "m")
    try await world.write("meters", "m")
    _ = try await world.engine.push()
    let told = edits(of: id, told: world)
    try await world.engine.edits.retry("meters")
    #expect(edits(of: id, told: world) == told + 1)
    // There is nothing left to make due.
    try await world.engine.edits.retry("meters")
    #expect(edits(of: id, told: world) == told + 1)
  }

  // MARK: Drafts

  /// How often observers were told that a record's edit has changed.
  private func edits(of id: RecordID, told world: PushWorld) -> Int {
    world.recorder.events.filter { if case .edited(.records([id])) = $0 { true } else { false } }.count
  }

  @Test func aDraftWaitsUntilTheAppReleasesIt() async throws {
    let world = try await world(.readWrite, [PushWorld.readings])
    try await world.write("meters", "m")
    try await world.engine.edits.hold(id)
    #expect(edits(of: id, told: world) == 2)
    try await world.write("readings", "r", ["meter": #""m""#])
    // Further edits stay in it, and neither a sync nor a retry of all sends it.
    try await world.write("meters", "m", ["name": "2"])
    try await world.engine.edits.retry("meters")
    _ = try await world.engine.sync()
    #expect(world.there().isEmpty && world.there("readings").isEmpty)
    #expect(world.here() == ["m": #"{"name":2}"#])
    let waiting = try await world.engine.edits.waiting("meters")
    #expect(waiting.map(\.wait) == [.release] && waiting.first?.reason == "is a draft")
    try await world.engine.edits.release(id)
    #expect(edits(of: id, told: world) == 4)
    _ = try await world.engine.sync()
    #expect(world.there() == ["m": #"{"name":2}"#] && world.there("readings").count == 1)
  }

  /// Nothing of the record is left to be kept back.
  @Test func aDeletionEndsADraft() async throws {
    let world = try await world(.readWrite)
    world.remote.upsert("meters", "m", #"{"name":1}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "m", ["name": "2"])
    try await world.engine.edits.hold(id)
    try await world.delete("meters", "m")
    #expect(try await world.engine.edits.waiting("meters").map(\.wait) == [.push])
    _ = try await world.engine.sync()
    #expect(world.there().isEmpty && world.here().isEmpty)
    #expect(try await world.outbox().isEmpty)
  }

  @Test func aDraftMeetsWhatOthersWrite() async throws {
    let world = try await world(.readWrite)
    world.remote.upsert("meters", "m", #"{"name":1,"note":1}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "m", ["name": "2"])
    try await world.engine.edits.hold(id)
    world.remote.upsert("meters", "n", #"{"name":9}"#)
    _ = try await world.engine.sync()
    #expect(try await world.engine.edits.waiting("meters").map(\.wait) == [.release])
    #expect(world.there()["m"] == #"{"name":1,"note":1}"#)
    try await world.engine.edits.discard(id)
    #expect(world.here()["m"] == #"{"name":1,"note":1}"#)
    await #expect { try await world.engine.edits.hold(id) } throws: {
      ($0 as? SyncError)?.code == .invalidEdit
    }
  }

  // MARK: Forgetting

  @Test func aForgottenTypeIsListedAgainAndStaysAtTheRemote() async throws {
    let world = try await world(.readWrite, [PushWorld.readings])
    world.remote.upsert("meters", "m", #"{"name":1}"#)
    world.remote.upsert("readings", "r", #"{"meter":"m"}"#)
    _ = try await world.engine.sync()
    try await world.write("readings", "s", ["meter": #""m""#])
    await #expect { try await world.engine.forget(["meters"]) } throws: {
      "\($0)".contains("readings.meter refers to it")
    }
    let edits = try await world.engine.forget(["readings"])
    #expect(edits.map(\.id.key) == ["s"] && world.here("readings").isEmpty && world.here().count == 1)
    #expect(world.there("readings").count == 1)
    _ = try await world.engine.sync()
    #expect(world.here("readings") == ["r": #"{"meter":"m"}"#])
  }

  @Test func aForgottenRecordComesBackWithItsNextChange() async throws {
    let world = try await world(.readWrite, [PushWorld.readings])
    world.remote.upsert("meters", "m", #"{"name":1}"#)
    world.remote.upsert("readings", "r", #"{"meter":"m"}"#)
    _ = try await world.engine.sync()
    let reading = RecordID(type: "readings", key: "r")
    await #expect { try await world.engine.forget(records: [id]) } throws: {
      ($0 as? SyncError)?.code == .invalidEdit
    }
    #expect(world.here().count == 1)
    #expect(try await world.engine.forget(records: [id, reading]).isEmpty)
    _ = try await world.engine.sync()
    #expect(world.here().isEmpty && world.here("readings").isEmpty && world.there().count == 1)
    world.remote.upsert("meters", "m", #"{"name":2}"#)
    _ = try await world.engine.sync()
    #expect(world.here() == ["m": #"{"name":2}"#])
  }
}
