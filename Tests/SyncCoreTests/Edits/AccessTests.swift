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

  /// The next version of the app, with other declarations.
  private func engine(_ entities: [Entity], in world: PushWorld) async throws -> SyncEngine {
    try await SyncEngine(
      schema: SyncSchema(entities), store: world.store, source: world.remote, sink: world.remote,
      clock: world.clock, observers: [world.recorder])
  }

  /// The remote has none of them, so that a listing would remove them as deleted there.
  @Test(arguments: [true, false])
  func theRecordsOfAFormerlyLocalTypeAreInserted(_ isInterrupted: Bool) async throws {
    let marks = [PushWorld.meters, Entity("marks", references: [.to("meters", by: "meter")])]
    let world = try await PushWorld([
      Entity("meters", access: .local),
      Entity("marks", references: [.to("meters", by: "meter")], access: .local),
    ])
    for key in ["m", "n", "o"] { try await world.write("meters", key) }
    try await world.write("meters", "old", ["name": #""9""#])
    try await world.write("marks", "k", ["meter": #""n""#])
    try await world.delete("meters", "o")
    _ = try await world.engine.cleanUp(
      CleanupPolicy([.hide("meters", where: .equal("name", .string("9")))]))
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "m", #"{"name":7}"#)
    world.clock.advance(by: .seconds(1))
    // The process may die with the declarations registered, and before the first sync.
    if isInterrupted { try await world.store.register(SyncSchema(marks)) }
    _ = try await engine(marks, in: world)
    let engine = try await engine(marks, in: world)
    #expect(try await engine.edits.waiting("meters").map(\.entry.id.key) == ["m", "n", "old"])
    for _ in 1...2 { _ = try await engine.sync() }
    #expect(
      world.there() == ["m": #"{"name":7}"#, "n": #"{"name":1}"#, "old": #"{"name":"9"}"#]
        && world.here() == world.there())
    #expect(world.there("marks") == ["k": #"{"meter":"n"}"#] && world.here("marks") == world.there("marks"))
    let conflicts = try await engine.edits.conflicts()
    #expect(conflicts.map(\.id.key) == ["m"] && conflicts.map(\.winner) == [.remote])
    #expect(try await engine.edits.pending("meters").isEmpty)
  }

  /// A listing would remove them, and a push send what the app declares as read-only.
  @Test func theRecordsOfALocalTypeThatBecomesReadOnlyAreDrafts() async throws {
    let world = try await world(.local)
    for key in ["m", "n", "o"] { try await world.write("meters", key) }
    world.remote.upsert("meters", "n", #"{"name":7}"#)
    let engine = try await engine([Entity("meters", access: .readOnly)], in: world)
    for _ in 1...2 { _ = try await engine.sync() }
    #expect(world.there() == ["n": #"{"name":7}"#])
    #expect(world.here() == ["m": #"{"name":1}"#, "n": #"{"name":7}"#, "o": #"{"name":1}"#])
    #expect(try await engine.edits.conflicts().map(\.id.key) == ["n"])
    let waiting = try await engine.edits.waiting("meters")
    #expect(waiting.map(\.entry.id.key) == ["m", "o"] && waiting.allSatisfy { $0.wait == .release })
    try await engine.edits.release(id)
    try await engine.edits.discard(RecordID(type: "meters", key: "o"))
    _ = try await engine.sync()
    #expect(world.here() == ["m": #"{"name":1}"#, "n": #"{"name":7}"#] && world.here() == world.there())
  }

  /// Otherwise the device that is updated last would win over what the others have changed since.
  @Test func theRecordsOfAFormerlyLocalTypeAreEarlierThanEdits() async throws {
    let keyed = { (access) in Entity("meters", naturalKey: NaturalKey("mac"), access: access) }
    let one = try await PushWorld([keyed(.local)])
    let two = try await PushWorld([keyed(.local)], name: "b", beside: one)
    try await one.write("meters", "main", ["theme": "1"])
    try await one.write("meters", "x", ["mac": #""1""#])
    try await two.write("meters", "main", ["theme": "2"])
    try await two.write("meters", "y", ["mac": #""1""#])
    let first = try await engine([keyed(.readWrite)], in: one)
    _ = try await first.sync()
    try await first.rebuildDuplicates(of: "meters", version: 1)
    for (key, member, value) in [("main", "theme", "3"), ("x", "name", "1")] as [(String, FieldName, String)]
    {
      try await first.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: "meters", key: key)) { $0[member] = Array(value.utf8)[...] }
      }
    }
    _ = try await first.sync()
    one.clock.advance(by: .seconds(86_400))
    let second = try await engine([keyed(.readWrite)], in: two)
    _ = try await second.sync()
    try await second.rebuildDuplicates(of: "meters", version: 1)
    for engine in [second, first, second, first] { _ = try await engine.sync() }
    let wanted = ["main": #"{"theme":3}"#, "x": #"{"mac":"1","name":1}"#]
    #expect(one.there() == wanted && one.here() == wanted && two.here() == wanted)
    #expect(try await second.edits.conflicts().map(\.id.key) == ["main"])
  }

  @Test func aSyncedTypeThatWasLocalForAWhileGoesOn() async throws {
    let world = try await world(.readWrite)
    for key in ["changed", "deletedHere", "deletedThere", "same"] {
      world.remote.upsert("meters", key, #"{"name":1}"#)
    }
    _ = try await world.engine.sync()
    try await world.write("meters", "changed", ["name": "5"])
    _ = try await world.engine.sync()
    let other = try await PushWorld([Entity("meters")], name: "b", beside: world)
    _ = try await other.engine.sync()
    try await other.write("meters", "changed", ["name": "6"])
    try await world.write("meters", "pending")
    let local = try await engine([Entity("meters", access: .local)], in: world)
    try await local.edits.perform { (batch) throws(SyncError) in
      for key in ["changed", "new"] {
        try batch.set(RecordID(type: "meters", key: key)) { $0["name"] = Array("2".utf8)[...] }
      }
      try batch.delete(RecordID(type: "meters", key: "deletedHere"))
    }
    world.remote.delete("meters", "deletedThere")
    _ = try await local.sync()
    #expect(world.there().keys.sorted() == ["changed", "deletedHere", "same"])
    #expect(world.there()["changed"] == #"{"name":5}"#)
    #expect(
      try await local.edits.waiting("meters").map(\.reason).allSatisfy { $0.contains("meters as local") })
    let engine = try await engine([Entity("meters")], in: world)
    for _ in 1...2 { _ = try await engine.sync() }
    let wanted = [
      "changed": #"{"name":2}"#, "new": #"{"name":2}"#, "pending": #"{"name":1}"#, "same": #"{"name":1}"#,
    ]
    #expect(world.there() == wanted && world.here() == wanted)
    #expect(try await engine.edits.pending("meters").isEmpty)
    // The edit was made later than another device's, which arrives only now.
    for engine in [other.engine, engine] { _ = try await engine.sync() }
    #expect(world.there() == wanted && world.here() == wanted && other.here() == wanted)
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
