import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@testable import SyncCore

/// R3.9: the earliest value of an immutable field stays, on devices and at the remote.
@Suite("An immutable field")
struct ImmutableFieldTests {
  private static let meters = Entity("meters", naturalKey: NaturalKey("mac"), immutable: ["made"])

  private func payload(_ json: String) -> Payload { Payload(Array(json.utf8)) }

  private func world(_ entity: Entity = Self.meters, edits: EditOptions = EditOptions()) async throws
    -> PushWorld
  {
    try await PushWorld([entity], edits: edits)
  }

  private func made(_ json: String?) throws -> FieldValue? {
    try json.map { try payload($0).values(of: ["made"])[0] }
  }

  @Test(arguments: [
    (#""2026-04-01T12:00:00+02:00""#, #""2026-04-01T11:00:00Z""#),
    (#""2026-04-01""#, #""2026-04-01T00:00:00.5""#),
    ("9", "10"), ("1.5", "2"), (#""a""#, #""b""#), (#""2026-04-01""#, "7"), ("7", #""a""#), ("null", "7"),
    (#""2026-02-28T23:59:60Z""#, #""2026-03-01T00:00:01Z""#), (#""2026-02-30""#, #""2026-02-31""#),
  ])
  func isTheEarliestOfTwoWhicheverComesFirst(_ one: String, _ other: String) throws {
    let first = payload(#"{"a":1,"made":\#(one)}"#)
    let second = payload(#"{"made":\#(other),"a":2}"#)
    let kept = one == "null" ? other : one
    #expect(
      try Self.meters.keepingImmutable(first, second).values(of: ["made"])
        == payload(#"{"made":\#(kept)}"#).values(of: ["made"]))
    #expect(
      try Self.meters.keepingImmutable(second, first).values(of: ["made"])
        == payload(#"{"made":\#(kept)}"#).values(of: ["made"]))
    #expect(Self.meters.keepingImmutable(first, first) == first)
    #expect(Self.meters.keepingImmutable(first, nil) == first)
    #expect(Entity("meters").keepingImmutable(second, first) == second)
  }

  /// The remote's copy wins over the deletion, lacks the field, and waits for a record that waits for it.
  @Test func keepsNoDeletionThatLostToACopyWhichWaits() async throws {
    let folders = Entity("folders", references: [.to("folders", by: "parent")], immutable: ["made"])
    let world = try await world(folders, edits: EditOptions(policy: ServerWins()))
    world.remote.upsert("folders", "x", #"{"id":"x","parent":null,"made":1}"#)
    _ = try await world.engine.sync()
    try await world.delete("folders", "x")
    world.remote.upsert("folders", "x", #"{"id":"x","parent":"y"}"#)
    world.remote.upsert("folders", "y", #"{"id":"y","parent":"x"}"#)
    for _ in 0..<3 {
      _ = try await world.engine.sync()
      world.clock.advance(by: .seconds(1))
    }
    #expect(world.here("folders").keys.sorted() == ["x", "y"])
    #expect(try await world.outbox("folders").isEmpty)
    #expect(try made(world.there("folders")["x"]) == .integer(1))
  }

  @Test func isNotChangedByAnEdit() async throws {
    let world = try await world()
    try await world.write("meters", "m", ["made": "5", "name": "1"])
    try await world.write("meters", "m", ["made": "6", "name": "2"])
    #expect(world.here() == ["m": #"{"made":5,"name":2}"#])
    _ = try await world.engine.sync()
    try await world.write("meters", "m", ["made": "7"])
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "meters", key: "m")) { (fields) throws(SyncError) in fields["made"] = nil }
    }
    #expect(try await world.outbox().isEmpty)
    #expect(world.here() == ["m": #"{"made":5,"name":2}"#])
  }

  /// The engine makes the edit that restores it, whatever the clocks say.
  @Test(arguments: [LastWriteWins() as any MergePolicy, FieldwiseLastWriteWins()])
  func isRestoredWithoutBeatingAPersonsEdit(_ policy: any MergePolicy) async throws {
    let world = try await world(edits: EditOptions(policy: policy))
    world.remote.upsert("meters", "m", #"{"made":5,"name":1}"#)
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(5))
    world.remote.upsert("meters", "m", #"{"made":9,"name":2}"#)
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    let restoring = try #require(try await world.outbox().first)
    #expect(restoring.lastWrite.physical <= world.clock.timestamp)
    #expect(restoring.lastWrite.replica.isEmpty)
    // A person's edit, which arrived before the restoring one was made.
    world.remote.upsert("meters", "m", #"{"made":9,"name":3}"#)
    world.clock.advance(by: .seconds(60))
    _ = try await world.engine.sync()
    #expect(world.here() == ["m": #"{"made":5,"name":3}"#])
    _ = try await world.engine.sync()
    #expect(world.there() == world.here())
    #expect(try await world.engine.edits.conflicts().isEmpty)
    #expect(try await world.outbox().isEmpty)
  }

  @Test func isThatOfTheRecordBeforeItWasDeletedAndMadeAgain() async throws {
    let world = try await world()
    try await world.write("meters", "m", ["made": "5", "name": "1"])
    _ = try await world.engine.sync()
    try await world.delete("meters", "m")
    try await world.write("meters", "m", ["made": "9", "name": "2"])
    #expect(world.here() == ["m": #"{"made":5,"name":2}"#])
    _ = try await world.engine.sync()
    #expect(world.here() == ["m": #"{"made":5,"name":2}"#])
    #expect(world.there() == world.here())
  }

  /// The remote has the earlier value, or this device.
  @Test(arguments: [5, 9]) func isTheEarliestInWhatAPolicyMerges(here: Int) async throws {
    struct Latest: MergePolicy {
      func settle(_: MergeConflict) -> MergeResolution {
        .merged(Payload(Array(#"{"made":99,"name":3}"#.utf8)), reason: "latest")
      }
    }
    let world = try await world(edits: EditOptions(policy: Latest()))
    try await world.write("meters", "m", ["made": "\(here)", "name": "1"])
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "m", #"{"made":\#(14 - here),"name":2}"#)
    _ = try await world.engine.sync()
    #expect(world.here() == ["m": #"{"made":5,"name":3}"#])
    _ = try await world.engine.sync()
    #expect(world.there() == world.here())
  }

  /// A remote that writes the field itself is not corrected with every sync.
  @Test func isLeftToARemoteThatWritesItItself() async throws {
    let world = try await PushWorld(
      [Self.meters],
      sink: { RewritingSink(base: $0, keepsUnknownMembers: true, rewrite: Self.assign) })
    world.remote.upsert("meters", "m", #"{"made":5,"name":1}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "m", ["name": "2"])
    for _ in 0..<4 { _ = try await world.engine.sync() }
    #expect(try await world.engine.sync().pushed.requests == 0)
    #expect(world.here() == ["m": #"{"made":100,"name":2}"#])
    #expect(world.there() == world.here())
    let told = world.recorder.events.filter { if case .immutableAssigned = $0 { true } else { false } }
    #expect(told.count == 1)
  }

  private static let assign: @Sendable (inout OutgoingChange) -> Void = { change in
    guard case .upsert(let payload, let schema) = change.content, var map = try? FieldMap(payload) else {
      return
    }
    map["made"] = Array("100".utf8)[...]
    change.content = .upsert(map.payload, schemaVersion: schema)
  }

  @Test func isRefusedWhereTheRemoteManagesIt() async throws {
    await #expect(
      performing: {
        _ = try await PushWorld([Self.meters]) { $0.numberField = "made" }
      }, throws: PushWorld.isCode(.invalidConfiguration))
  }

  @Test func isRestoredWhereACopyChangesIt() async throws {
    let world = try await world()
    world.remote.upsert("meters", "m", #"{"made":5,"name":1}"#)
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(5))
    world.remote.upsert("meters", "m", #"{"made":9,"name":2}"#)
    _ = try await world.engine.sync()
    #expect(world.here() == ["m": #"{"made":5,"name":2}"#])
    #expect(try await world.outbox().count == 1)
    _ = try await world.engine.sync()
    #expect(world.there() == ["m": #"{"made":5,"name":2}"#])
    #expect(try await world.outbox().isEmpty)
    // An earlier value is accepted.
    world.remote.upsert("meters", "m", #"{"made":3,"name":2}"#)
    _ = try await world.engine.sync()
    #expect(world.here() == ["m": #"{"made":3,"name":2}"#])
    #expect(try await world.outbox().isEmpty)
    // A missing value is restored.
    world.remote.upsert("meters", "m", #"{"name":3}"#)
    _ = try await world.engine.sync()
    _ = try await world.engine.sync()
    #expect(try made(world.there()["m"]) == 3)
    #expect(world.here() == world.there())
  }

  /// A member differs in each answer of the remote. What was sent may have arrived.
  @Test(arguments: [true, false]) func isSentAgainUnchangedAtTheSameVersion(isSameVersion: Bool) {
    let id = RecordID(type: "meters", key: "m")
    func copy(_ served: Int, _ version: Int64) -> Record {
      Record(
        id: id, version: Version(sequence: version, modifiedAt: Timestamp(milliseconds: version)),
        payload: payload(#"{"made":9,"served":\#(served)}"#), fields: [])
    }
    let known = copy(1, 1)
    let restoring = Edit(
      .upsert(payload(#"{"made":5,"served":1}"#), schemaVersion: 1),
      stamp: EditStamp(physical: known.version.modifiedAt))
    let entry = OutboxEntry(
      id: id, edit: restoring, base: .copy(known), sent: restoring, attempts: 1,
      author: .restoration(of: known, by: Self.meters))
    let settler = EditSettler(
      entity: Self.meters, policy: LastWriteWins(), maximumClockSkew: .seconds(300),
      now: Timestamp(milliseconds: 5000))
    let settlement = settler.meeting(.copy(copy(2, isSameVersion ? 1 : 2)), entry)
    #expect(settlement.conflict == nil)
    #expect((settlement.entry == entry) == isSameVersion)
    #expect((settlement.entry?.sent == nil) != isSameVersion)
  }

  /// Without a sink, the restoring edit stays pending.
  @Test func isShownAsItWasWhereNothingCanBePushed() async throws {
    let world = try await World([Self.meters])
    world.remote.upsert("meters", "m", #"{"made":5,"name":1}"#)
    _ = try await world.engine.sync()
    world.remote.upsert("meters", "m", #"{"made":9,"name":2}"#)
    _ = try await world.engine.sync()
    #expect(
      try made(
        world.store.records(of: "meters").first.map { String(decoding: $0.payload.bytes, as: UTF8.self) })
        == 5)
    #expect(try await world.engine.status().map(\.pending) == [1])
    _ = try await world.engine.resync()
    #expect(try await world.engine.status().map(\.pending) == [1])
  }

  @Test(arguments: [0, 1, 2])
  func isTheEarliestWhicheverSideWinsAConflict(_ policy: Int) async throws {
    let policies: [any MergePolicy] = [LastWriteWins(), ServerWins(), FieldwiseLastWriteWins()]
    let edits = EditOptions(policy: policies[policy])
    for isOursEarlier in [true, false] {
      let a = try await world(edits: edits)
      let b = try await PushWorld([Self.meters], name: "b", beside: a, edits: edits)
      try await a.write("meters", "m", ["made": isOursEarlier ? "9" : "5", "name": "1"])
      try await b.write("meters", "m", ["made": isOursEarlier ? "5" : "9", "name": "2"])
      for world in [a, b, a, b, a] { _ = try await world.engine.sync() }
      #expect(try made(a.there()["m"]) == 5)
      #expect(a.here(stamped: true) == a.there(stamped: true) && a.here() == b.here())
      #expect(try await a.outbox().isEmpty)
      #expect(try await b.outbox().isEmpty)
    }
  }

  @Test func isTheEarliestOfAGroupOfDuplicates() async throws {
    let world = try await world()
    world.remote.upsert("meters", "m1", #"{"mac":"a","made":3,"name":1}"#)
    world.clock.advance(by: .seconds(5))
    world.remote.upsert("meters", "m2", #"{"mac":"a","made":9,"name":2}"#)
    _ = try await world.engine.sync()
    _ = try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.here() == ["m2": #"{"mac":"a","made":3,"name":2}"#])
    _ = try await world.engine.sync()
    #expect(world.there() == world.here())
  }

  @Test func isNoneOfTheStampsNorTheSchema() {
    for entity in [
      Entity("a", schemaVersionField: "s", immutable: ["s"]), Entity("a", stampField: "t", immutable: ["t"]),
      Entity("a", immutable: [""]),
    ] {
      #expect(throws: SyncError.self) { try SyncSchema(entity) }
    }
  }

  @Test(
    arguments: [
      ("1970-01-01", 0), ("1970-01-01T00:00:01Z", 1_000_000), ("1969-12-31T23:59:59.5", -500_000),
      ("2000-02-29T12:30:00.123456789+02:30", 951_818_400_123_456),
      ("2026-04-01 18:00-0100", 1_775_070_000_000_000),
    ] as [(String, Int64)])
  func readsDates(_ text: String, _ microseconds: Int64) {
    #expect(Timestamp(iso8601: text) == Timestamp(microseconds: microseconds))
  }

  @Test(arguments: [
    "", "2026", "2026-13-01", "2026-02-29", "2026-04-01T", "2026-04-01T24:00", "2026-04-01T10:00:00.",
    "2026-04-01T10:00:00Zx", "26-04-01", "2026-04-01T10:00:61", "2026-04-01T10:00+25:00", "２０２６-04-01",
  ])
  func readsNothingElseAsADate(_ text: String) {
    #expect(Timestamp(iso8601: text) == nil)
  }
}
