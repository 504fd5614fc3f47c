import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("A rebuild's own edits")
struct RebuiltEditTests {
  private static func keyed(_ stamping: Stamping) -> Entity {
    Entity(
      "readings", references: [.to("meters", by: "meter")], naturalKey: NaturalKey("serial"),
      stamping: stamping)
  }
  private static let meters = Entity("meters", naturalKey: NaturalKey("mac"))

  @Test(arguments: [false, true], [Stamping.none, .automatic, .field("edited")])
  func doNotMakeRecordsOfOtherTypesTheLastWritten(_ isPushed: Bool, _ stamping: Stamping) async throws {
    let world = try await PushWorld([Self.meters, Self.keyed(stamping)])
    func put(_ type: RecordType, _ key: String, _ json: String) {
      world.clock.advance(by: .seconds(10))
      world.remote.upsert(type, key, json)
    }
    put("meters", "m1", #"{"mac":"a"}"#)
    put("meters", "m2", #"{"mac":"a"}"#)
    put("readings", "r1", #"{"serial":"s","meter":"m1"}"#)
    put("readings", "r2", #"{"serial":"s","meter":"m2"}"#)
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(10))
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    if isPushed { _ = try await world.engine.sync() }
    world.clock.advance(by: .seconds(10))
    try await world.engine.rebuildDuplicates(of: "readings", version: 1)
    #expect(world.here("readings").keys.sorted() == ["r2"])
  }

  @Test(arguments: [Stamping.none, .automatic, .field("edited")])
  func doNotMakeWinnersThatTakeMembersOverTheLastWritten(_ stamping: Stamping) async throws {
    let entity = Entity("meters", naturalKey: NaturalKey("mac"), stamping: stamping)
    let world = try await PushWorld([entity])
    func stamp() -> String {
      entity.stampField.map { #","\#($0)":"\#(EditStamp(physical: world.clock.timestamp, replica: "x"))""# }
        ?? ""
    }
    world.remote.upsert("meters", "m2", #"{"mac":"a","extra":1\#(stamp())}"#)
    world.clock.advance(by: .seconds(10))
    world.remote.upsert("meters", "m1", #"{"mac":"a","name":"old"\#(stamp())}"#)
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(100))
    let late = world.remote.prepareUpsert("meters", "m3", #"{"mac":"a","name":"last"\#(stamp())}"#)
    world.clock.advance(by: .seconds(100))
    try await world.engine.rebuildDuplicates(
      of: "meters", version: 1, options: RebuildOptions(carriesOver: .everyField))
    _ = try await world.engine.sync()
    #expect(world.there()["m1"]?.contains("extra") ?? false)
    late.commit()
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["m3"])
  }

  private struct Meter: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "meters"
    var id: String
    var mac: String
    var name: String
    var colour: String?
  }

  /// A form of a loser was open meanwhile, and its deletion may have been pushed.
  @Test(arguments: [true, false], ["colour", "name"])
  func takeWhatAFormOfALoserIsSavedWith(_ isPushed: Bool, _ member: String) async throws {
    let world = try await PushWorld([Self.meters])
    let (room, winner) = (ExpiringField<String>("room"), RecordID(type: "meters", key: "y"))
    for (key, name) in [("x", "X"), ("y", "Y")] {
      world.clock.advance(by: .seconds(1))
      world.remote.upsert("meters", key, #"{"id":"\#(key)","mac":"1","name":"\#(name)"}"#)
    }
    _ = try await world.engine.sync()
    try await world.engine.expiring.set("kitchen", for: room, of: RecordID(type: "meters", key: "x"))
    var form = try #require(try await world.engine.records.find(Meter.self, id: "x"))
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    if isPushed { for _ in 1...2 { _ = try await world.engine.sync() } }
    #expect(world.here().keys.sorted() == ["y"])
    #expect(try await world.engine.expiring.value(of: room, for: winner) == "kitchen")
    world.clock.advance(by: .seconds(1))
    if member == "name" { form.value.name = "N" } else { form.value.colour = "red" }
    let changed = form
    await #expect {
      try await world.engine.edits.upsert(changed, ifUnchanged: true)
    } throws: {
      PushWorld.isCode(.changedMeanwhile)($0)
    }
    try await world.engine.edits.upsert(form)
    form.value.colour = "blue"
    try await world.engine.edits.upsert(form)
    for _ in 1...3 { _ = try await world.engine.sync() }
    let name = member == "name" ? "N" : "Y"
    #expect(world.here() == ["y": #"{"id":"y","mac":"1","name":"\#(name)","colour":"blue"}"#])
    #expect(world.there() == world.here())
    // Both have the name otherwise than it was read.
    #expect(try await world.engine.edits.conflicts().count == (member == "name" ? 1 : 0))
  }

  @Test func carryTheStampOfTheLastWriteToOtherDevices() async throws {
    let entities = [
      Entity("meters", naturalKey: NaturalKey("mac"), stampField: "edited"),
      Entity(
        "readings", references: [.to("meters", by: "meter")], naturalKey: NaturalKey("serial"),
        stampField: "edited"),
    ]
    let world = try await PushWorld(entities)
    world.remote.upsert("meters", "m1", #"{"mac":"a"}"#)
    world.remote.upsert("readings", "r1", #"{"serial":"s","meter":"m1"}"#)
    let written = world.clock.timestamp
    world.clock.advance(by: .seconds(10))
    world.remote.upsert("meters", "m2", #"{"mac":"a"}"#)
    world.remote.upsert("readings", "r2", #"{"serial":"s","meter":"m2"}"#)
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(10))
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    _ = try await world.engine.sync()
    #expect(world.there("readings")["r1"]?.contains(EditStamp(physical: written).description) ?? false)
    let other = try await PushWorld(entities, name: "b", beside: world)
    _ = try await other.engine.sync()
    try await other.engine.rebuildDuplicates(of: "readings", version: 1)
    #expect(other.here("readings").keys.sorted() == ["r2"])
  }

  @Test func giveWayToWhatWasWrittenInTheMeantime() async throws {
    let world = try await PushWorld([Self.meters, PushWorld.readings])
    for key in ["m1", "m2"] {
      world.remote.upsert("meters", key, #"{"mac":"a"}"#)
      world.clock.advance(by: .seconds(10))
    }
    world.remote.upsert("readings", "r", #"{"meter":"m1","name":"old"}"#)
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(10))
    let late = world.remote.prepareUpsert("readings", "r", #"{"meter":"m1","name":"new"}"#)
    world.clock.advance(by: .seconds(10))
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    late.commit()
    for _ in 0..<3 { _ = try await world.engine.sync() }
    #expect(world.there("readings") == ["r": #"{"meter":"m2","name":"new"}"#])
    #expect(world.there().keys.sorted() == ["m2"])
    #expect(world.here("readings") == world.there("readings"))
  }

  @Test func areForgottenOnceTheirRecordsAreWrittenByOthers() async throws {
    let world = try await PushWorld([Self.meters, Self.keyed(.none)])
    for key in ["m1", "m2"] {
      world.remote.upsert("meters", key, #"{"mac":"a"}"#)
      world.clock.advance(by: .seconds(10))
    }
    world.remote.upsert("readings", "r", #"{"serial":"s","meter":"m1"}"#)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    _ = try await world.engine.sync()
    func remembered() async throws -> Int {
      try await world.store.read { snapshot throws(SyncError) in
        try snapshot.keys(withPrefix: "rebuild/readings/former/", after: nil, limit: 9).count
      }
    }
    #expect(try await remembered() == 1)
    world.remote.upsert("readings", "r", #"{"serial":"s","meter":"m2","name":1}"#)
    _ = try await world.engine.sync()
    #expect(try await remembered() == 0)
  }

  /// A sink may answer with another client's later change of the record.
  ///
  /// That change is then the last write.
  @Test func areNotTakenForWhatAnotherWriterMadeOfTheRecordSince() async throws {
    let entity = Entity("meters", naturalKey: NaturalKey("mac"), stamping: .none)
    let world = try await PushWorld([entity], sink: { PresentSink(base: $0, entity: entity) })
    for key in ["a", "b"] {
      world.clock.advance(by: .seconds(10))
      world.remote.upsert("meters", key, #"{"mac":"1","\#(key)":1}"#)
    }
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(
      of: "meters", version: 1, options: RebuildOptions(carriesOver: .everyField))
    world.clock.advance(by: .seconds(10))
    world.remote.upsert("meters", "c", #"{"mac":"1","c":1}"#)
    world.clock.advance(by: .seconds(10))
    for _ in 0..<3 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["b"])
  }

  /// A sink with another client's write of the record before each answer.
  private struct PresentSink: RemoteRecordSink {
    let base: InMemoryRemote
    let entity: Entity
    var identity: String { base.identity }
    func limits() async throws(SyncError) -> SinkLimits { try await base.limits() }

    func push(
      _ changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] {
      let outcomes = try await base.push(changes, entities: entities)
      return zip(changes, outcomes).map { change, outcome in
        guard case .accepted(.upsert) = outcome else { return outcome }
        base.upsert("meters", change.id.key, #"{"mac":"1","theirs":1}"#)
        return base.present(change.id, of: entity).map { .accepted($0) } ?? outcome
      }
    }
  }
}
