import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

/// R3.3: the default choice of the last of two edits of a record.
@Suite("The last write")
struct LastWriteTests {
  private static let meters = Entity("meters")

  /// Two devices that know one meter.
  private func devices(
    _ entity: Entity = Self.meters, sink: (@Sendable (InMemoryRemote) -> any RemoteRecordSink)? = nil
  ) async throws -> (a: PushWorld, b: PushWorld) {
    let a = try await PushWorld([entity], name: "a", sink: sink)
    let b = try await PushWorld([entity], name: "b", beside: a, sink: sink)
    try await a.write("meters", "m", ["name": #""Meter""#])
    _ = try await a.engine.sync()
    _ = try await b.engine.sync()
    return (a, b)
  }

  private func name(_ world: PushWorld) throws -> FieldValue? {
    guard let json = world.there()["m"] else { return nil }
    return try Payload(Array(json.utf8)).values(of: ["name"]).first
  }

  @Test func isTheOneThatWasMadeLastWhicheverArrivesFirst() async throws {
    let (a, b) = try await devices()
    try await a.write("meters", "m", ["name": #""A's""#])
    try await b.write("meters", "m", ["name": #""B's""#])
    a.clock.advance(by: .seconds(5))
    _ = try await a.engine.sync()
    _ = try await b.engine.sync()
    _ = try await a.engine.sync()
    #expect(try name(a) == "B's")
    #expect(a.here() == b.here() && a.here() == a.there())
    #expect(try await b.engine.edits.conflicts().map(\.winner) == [.local])
  }

  /// An edit is made after a deletion, and before the deletion arrives at the remote.
  @Test(arguments: [true, false])
  func mayBeADeletionWhoseStampTheRemoteKeeps(_ keepsStamps: Bool) async throws {
    let a = try await PushWorld(
      [Self.meters], name: "a", configure: { $0.keepsDeletionStamps = keepsStamps })
    let b = try await PushWorld([Self.meters], name: "b", beside: a)
    try await a.write("meters", "m", ["name": #""Meter""#])
    _ = try await a.engine.sync()
    _ = try await b.engine.sync()
    try await a.delete("meters", "m")
    try await b.write("meters", "m", ["name": #""B's""#])
    a.clock.advance(by: .seconds(5))
    _ = try await a.engine.sync()
    _ = try await b.engine.sync()
    _ = try await a.engine.sync()
    #expect(a.here() == b.here() && a.here() == a.there())
    #expect(a.there().keys.contains("m") == keepsStamps)
    #expect(try await b.engine.edits.conflicts().map(\.winner) == [keepsStamps ? .local : .remote])
  }

  @Test func isTheOneThatArrivedLastWhereTheRemoteKeepsNoStamps() async throws {
    struct Forgetful: RemoteRecordSink {
      let base: InMemoryRemote
      var identity: String { base.identity }
      func push(
        _ changes: [OutgoingChange], entities: SyncSchema
      ) async throws(SyncError) -> [PushOutcome] { try await base.push(changes, entities: entities) }
    }
    let (a, b) = try await devices { Forgetful(base: $0) }
    try await b.write("meters", "m", ["name": #""B's""#])
    try await a.write("meters", "m", ["name": #""A's""#])
    a.clock.advance(by: .seconds(5))
    _ = try await a.engine.sync()
    _ = try await b.engine.sync()
    #expect(try name(a) == "B's")
    #expect(a.there(stamped: true).values.allSatisfy { !$0.contains(FieldName.editStamp.rawValue) })
    #expect(try await a.engine.status().map(\.lastWrite) == [.arrival])
  }

  @Test(arguments: [
    (Entity("meters"), TypeStatus.LastWrite.edit(.editStamp)),
    (Entity("meters", stampField: "edited"), .edit("edited")), (Entity("meters", stamping: .none), .arrival),
  ])
  func isToldByTheStatus(_ entity: Entity, _ means: TypeStatus.LastWrite) async throws {
    let world = try await PushWorld([entity])
    #expect(try await world.engine.status().map(\.lastWrite) == [means])
  }

  /// Another program changed the record, and kept the stamp of the edit before.
  @Test func ofAnotherWriterIsWhenTheRemoteTookIt() async throws {
    let (a, b) = try await devices()
    let stamped = try #require(a.there(stamped: true)["m"])
    try await b.write("meters", "m", ["name": #""B's""#])
    a.clock.advance(by: .seconds(5))
    a.remote.upsert("meters", "m", stamped.replacing("Meter", with: "another's"))
    _ = try await b.engine.sync()
    #expect(try name(a) == "another's")
    try await b.write("meters", "m", ["name": #""B's, later""#])
    _ = try await b.engine.sync()
    #expect(try name(a) == "B's, later")
  }

  @Test func isNoConflictWhereBothSayTheSame() async throws {
    let (a, b) = try await devices()
    try await a.write("meters", "m", ["name": #""ours""#])
    try await b.write("meters", "m", ["name": #""ours""#])
    _ = try await a.engine.sync()
    _ = try await b.engine.sync()
    #expect(try await b.engine.edits.conflicts().isEmpty)
    #expect(try await b.outbox().isEmpty)
  }

  @Test func isNoneWhereNothingButTheStampWouldChange() async throws {
    let (a, _) = try await devices()
    try await a.write("meters", "m", ["name": #""Meter""#])
    #expect(try await a.outbox().isEmpty)
    // Reverted before it was sent.
    try await a.write("meters", "m", ["name": #""x""#])
    #expect(try await a.outbox().count == 1)
    try await a.write("meters", "m", ["name": #""Meter""#])
    #expect(try await a.outbox().isEmpty)
    #expect(a.here(stamped: true) == a.there(stamped: true))
  }

  /// A policy's merge gets its own stamp, because stamps are not merged.
  @Test func ofMergedFieldsIsStampedAnew() async throws {
    let remote = try await PushWorld([Self.meters], name: "z")
    func device(_ name: String) async throws -> PushWorld {
      try await PushWorld(
        [Self.meters], name: name, beside: remote, edits: EditOptions(policy: FieldwiseLastWriteWins()))
    }
    let (a, b) = (try await device("a"), try await device("b"))
    try await a.write("meters", "m", ["name": "1", "place": "1"])
    _ = try await a.engine.sync()
    _ = try await b.engine.sync()
    try await a.write("meters", "m", ["name": "2"])
    try await b.write("meters", "m", ["place": "2"])
    _ = try await b.engine.sync()
    _ = try await a.engine.sync()
    let conflict = try #require(try await a.engine.edits.conflicts().first)
    #expect(conflict.reason == "each side changed other fields")
    let merged = try #require(a.there(stamped: true)["m"])
    let values = try Payload(Array(merged.utf8)).values(of: ["name", "place"])
    #expect(values == [2, 2])
    // The stamp is later than both.
    #expect(conflict.remoteStamp > conflict.local.stamp)
    #expect(Self.meters.stamp(in: Payload(Array(merged.utf8))).map { $0 > conflict.remoteStamp } == true)
    _ = try await b.engine.sync()
    #expect(a.here() == b.here())
  }

  // MARK: Clocks that are wrong. R3.8

  /// The first device's clock is an hour slow.
  @Test(arguments: [
    Entity("meters"), Entity("meters", stampField: "edited"), Entity("meters", stamping: .none),
  ])
  func isNeverBeforeTheCopyThatItWasMadeOn(_ entity: Entity) async throws {
    let (two, three) = try await devices(entity)
    let slow = ManualClock(timestamp: two.clock.timestamp - .seconds(3600))
    let store = InMemoryStore(identity: "slow")
    let one = try await SyncEngine(
      schema: SyncSchema(entity), store: store, source: two.remote, sink: two.remote, clock: slow)
    two.clock.advance(by: .seconds(60))
    try await three.write("meters", "m", ["name": #""three's, offline""#])
    two.clock.advance(by: .seconds(60))
    try await two.write("meters", "m", ["name": #""two's, later""#])
    _ = try await two.engine.sync()
    _ = try await one.sync()
    try await one.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "meters", key: "m")) { (fields) throws(SyncError) in
        fields["name"] = Array(#""one's, on top""#.utf8)[...]
      }
    }
    _ = try await one.sync()
    two.clock.advance(by: .seconds(60))
    _ = try await three.engine.sync()
    // Without stamps, the edit that arrives last wins.
    #expect(try name(two) == (entity.stamping == .none ? "three's, offline" : "one's, on top"))
  }

  /// R3.8: eleven days ahead.
  @Test(arguments: [Entity("meters"), Entity("meters", stampField: "edited")])
  func isFlaggedWhenACopyIsPulledThatWasStampedTooFarAhead(_ entity: Entity) async throws {
    let (two, _) = try await devices(entity)
    let three = try await PushWorld([entity], name: "c", beside: two)
    let fast = ManualClock(timestamp: two.clock.timestamp + .seconds(11 * 86400))
    let one = try await SyncEngine(
      schema: SyncSchema(entity), store: InMemoryStore(identity: "fast"), source: two.remote,
      sink: two.remote,
      clock: fast)
    _ = try await one.sync()
    try await one.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "meters", key: "m")) { (fields) throws(SyncError) in
        fields["name"] = Array(#""fast""#.utf8)[...]
      }
    }
    _ = try await one.sync()
    for world in [two, three] {
      _ = try await world.engine.sync()
      _ = try await world.engine.sync()
      let flagged = world.recorder.events.compactMap { event -> Duration? in
        if case .clockAhead(RecordID(type: "meters", key: "m"), let ahead) = event { ahead } else { nil }
      }
      #expect(flagged.count == 1 && flagged.allSatisfy { $0 > .seconds(10 * 86400) })
    }
  }

  @Test func isToldByTheClockAgainOnceThatIsPutRight() async throws {
    let (two, _) = try await devices()
    let clock = ManualClock(timestamp: two.clock.timestamp + .seconds(86400 * 365 * 10))
    let one = try await SyncEngine(
      schema: SyncSchema(Self.meters), store: InMemoryStore(identity: "fast"), source: two.remote,
      sink: two.remote, clock: clock)
    func write(_ key: String, _ name: String) async throws {
      try await one.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: "meters", key: key)) { (fields) throws(SyncError) in
          fields["name"] = Array(#""\#(name)""#.utf8)[...]
        }
      }
    }
    _ = try await one.sync()
    try await write("other", "ten years ahead")
    _ = try await one.sync()
    two.clock.advance(by: .seconds(60))
    clock.timestamp = two.clock.timestamp
    try await write("m", "one's")
    try await two.write("meters", "m", ["name": #""two's, later""#])
    _ = try await two.engine.sync()
    _ = try await one.sync()
    #expect(try name(two) == "two's, later")
    // A record with a future stamp can still be edited, by one device after the other.
    _ = try await two.engine.sync()
    try await two.write("meters", "other", ["name": #""two's""#])
    _ = try await two.engine.sync()
    _ = try await one.sync()
    try await write("other", "one's, on top")
    _ = try await one.sync()
    _ = try await two.engine.sync()
    #expect(two.here() == two.there())
    #expect(two.here()["other"]?.contains("one's, on top") == true)
  }
}
