import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

private struct Team: SyncedRecord, Codable {
  static let recordType: RecordType = "teams"
  var id: String
  var name: String
  var city: String?
}

@Suite("Local edits")
struct LocalEditTests {
  private static let team = RecordID(type: "teams", key: "t1")
  private static let game = RecordID(type: "games", key: "g1")

  private func text(_ world: World, _ id: RecordID) async throws -> String? {
    let record = try await world.store.read { snapshot throws(SyncError) in
      try snapshot.records(withIDs: [id])
    }
    return record.first??.payload.bytes.map { Character(UnicodeScalar($0)) }.reduce(into: "") {
      $0.append($1)
    }
  }

  private func entry(_ world: World, _ id: RecordID) async throws -> OutboxEntry? {
    try await world.store.read { snapshot throws(SyncError) in try snapshot.outbox(for: [id]) }.first
  }

  private func synced() async throws -> World {
    let world = try await World()
    world.remote.upsert("teams", "t1", #"{"id":"t1", "name":"Bees","city":"Ulm","extra":1.50}"#)
    world.remote.upsert("teams", "t2", #"{"id":"t2","name":"Ants"}"#)
    world.addGame("g1", home: "t1", away: "t2")
    _ = try await world.engine.sync()
    return world
  }

  /// The stamp in a field of the app's choice is the only trace, and would win over another client's edit.
  @Test func anEditThatIsUndoneIsNotSent() async throws {
    let world = try await PushWorld([Entity("meters", stampField: "edited")])
    try await world.write("meters", "m")
    _ = try await world.engine.sync()
    let before = world.here()
    try await world.write("meters", "m", ["name": "2"])
    try await world.write("meters", "m")
    #expect(try await world.outbox().isEmpty && world.here() == before)
    world.remote.upsert("meters", "m", #"{"name":3}"#)
    _ = try await world.engine.sync()
    #expect(world.here() == ["m": #"{"name":3}"#])
    #expect(try await world.engine.edits.conflicts().isEmpty)
  }

  @Test func areSeenAtOnceAndWaitInTheOutbox() async throws {
    let world = try await synced()
    let changes = world.engine.changes()
    try await world.engine.edits.upsert(Team(id: "t1", name: "Wasps", city: "Ulm"), key: "t1")
    #expect(try await text(world, Self.team) == #"{"id":"t1","name":"Wasps","city":"Ulm","extra":1.50}"#)
    let entry = try #require(try await entry(world, Self.team))
    #expect(
      entry.base.record?.payload.bytes.count
        == #"{"id":"t1", "name":"Bees","city":"Ulm","extra":1.50}"#.utf8.count)
    #expect(entry.sent == nil && entry.attempts == 0)
    let told = await changes.first { _ in true }
    #expect(told == .records([Self.team]))
  }

  @Test func keepWhatTheirTypeKnowsNothingOfAndRemoveWhatIsNil() async throws {
    let world = try await synced()
    try await world.engine.edits.upsert(Team(id: "t1", name: "Bees", city: nil), key: "t1")
    #expect(try await text(world, Self.team) == #"{"id":"t1","name":"Bees","extra":1.50}"#)
  }

  /// The remote's copies waited for a record that only the app creates, and stayed waiting.
  @Test func showWithTheNextSyncWhatHadWaitedForThem() async throws {
    let world = try await World()
    world.addTeams(2...2)
    world.addGame("g1", home: "t1", away: "t2")
    #expect(try await world.engine.sync()["games"].deferred == 1)
    try await world.engine.edits.upsert(Team(id: "t1", name: "Bees"), key: "t1")
    #expect(try await world.engine.sync()["games"].replayed == 1)
    #expect(world.keys("games") == ["g1"])
  }

  @Test func coalesceOnTheBaseTheyStartedFrom() async throws {
    let world = try await synced()
    try await world.engine.edits.upsert(Team(id: "t1", name: "A"), key: "t1")
    let first = try #require(try await entry(world, Self.team))
    try await world.engine.edits.upsert(Team(id: "t1", name: "B"), key: "t1")
    let second = try #require(try await entry(world, Self.team))
    #expect(second.base == first.base)
    #expect(second.edit.stamp > first.edit.stamp)
    #expect(try await world.engine.edits.pending("teams").count == 1)
  }

  @Test func thatTakeThemselvesBackLeaveNothingToPush() async throws {
    let world = try await synced()
    try await world.engine.edits.upsert(Team(id: "t1", name: "A", city: "Ulm"), key: "t1")
    try await world.engine.edits.upsert(Team(id: "t1", name: "Bees", city: "Ulm"), key: "t1")
    #expect(try await entry(world, Self.team) == nil)
    // The record shows the remote's exact bytes, not equal members in other bytes.
    #expect(try await text(world, Self.team) == #"{"id":"t1", "name":"Bees","city":"Ulm","extra":1.50}"#)
    try await world.engine.edits.upsert(Team(id: "t9", name: "New"), key: "t9")
    try await world.engine.edits.delete(RecordID(type: "teams", key: "t9"))
    #expect(try await world.engine.edits.pending("teams").isEmpty)
    #expect(world.keys("teams") == ["t1", "t2"])
  }

  @Test func thatCannotStandChangeNothing() async throws {
    let world = try await synced()
    let edits = world.engine.edits
    await #expect { try await edits.delete(Self.team) } throws: { ($0 as? SyncError)?.code == .invalidEdit }
    await #expect {
      try await edits.delete(RecordID(type: "planes", key: "p"))
    } throws: { ($0 as? SyncError)?.code == .invalidConfiguration }
    await #expect {
      try await edits.perform { batch throws(SyncError) in
        try batch.delete(Self.game)
        try batch.set(RecordID(type: "games", key: "g2")) { fields throws(SyncError) in
          fields["home"] = Array(#""t77""#.utf8)[...]
        }
      }
    } throws: { ($0 as? SyncError)?.code == .invalidEdit }
    await #expect {
      try await edits.perform { batch throws(SyncError) in
        try batch.set(Self.team) { fields throws(SyncError) in fields["name"] = Array("oops".utf8)[...] }
      }
    } throws: { ($0 as? SyncError)?.code == .invalidEdit }
    #expect(world.keys("games") == ["g1"])
    #expect(try await edits.pending("games").isEmpty)
    #expect(try await edits.pending("teams").isEmpty)
  }

  @Test func areGivenUpForTheRemotesLastWord() async throws {
    let world = try await synced()
    let edits = world.engine.edits
    let before = try await text(world, Self.team)
    try await edits.upsert(Team(id: "t1", name: "A"), key: "t1")
    try await edits.discard(Self.team)
    #expect(try await text(world, Self.team) == before)
    try await edits.delete(Self.game)
    try await edits.discard(Self.game)
    #expect(world.keys("games") == ["g1"])
    #expect(try await entry(world, Self.game) == nil)
  }

  /// The app deleted its record, and then the record that it referred to.
  @Test func areGivenUpAlsoWhereTheRemotesLastWordCannotBeShown() async throws {
    let world = try await synced()
    let edits = world.engine.edits
    try await edits.delete(Self.game)
    try await edits.delete(Self.team)
    try await edits.discard(Self.game)
    #expect(try await entry(world, Self.game) == nil)
    #expect(world.keys("games").isEmpty)
    let explanation = try await world.engine.explain(Self.game)
    #expect(explanation.withheld.map(\.kind) == [.parked])
    #expect(explanation.withheld.first?.waitsFor == [Self.team])
    try await edits.discard(Self.team)
    _ = try await world.engine.sync()
    #expect(world.keys("games") == ["g1"])
    #expect(try await world.engine.explain(Self.game).withheld.isEmpty)
    #expect(world.isEqual("games"))
  }

  @Test func stayOnTopOfAnOlderWordAndYieldToALaterOne() async throws {
    let world = try await synced()
    world.clock.advance(by: .seconds(10))
    world.remote.upsert("teams", "t1", #"{"id":"t1","name":"Remote"}"#)
    world.clock.advance(by: .seconds(10))
    try await world.engine.edits.upsert(Team(id: "t1", name: "Mine", city: "Ulm"), key: "t1")
    try await world.engine.edits.upsert(Team(id: "t2", name: "Mine too"), key: "t2")
    world.clock.advance(by: .seconds(10))
    world.remote.upsert("teams", "t2", #"{"id":"t2","name":"Later"}"#)
    let result = try await world.engine.sync()
    #expect(result["teams"].conflicts == 2)
    #expect(result.total.fetched == result.total.outcomes - result.total.swept)
    #expect(try await text(world, Self.team)?.contains("Mine") == true)
    #expect(try await text(world, RecordID(type: "teams", key: "t2"))?.contains("Later") == true)
    let kept = try #require(try await entry(world, Self.team))
    let base = try #require(kept.base.record)
    #expect(String(decoding: base.payload.bytes, as: UTF8.self) == #"{"id":"t1","name":"Remote"}"#)
    #expect(try await entry(world, RecordID(type: "teams", key: "t2")) == nil)
    let conflicts = try await world.engine.edits.conflicts()
    let winners = Set(conflicts.map(\.winner))
    #expect(winners == [.remote, .local])
  }

  @Test func areSparedByASweep() async throws {
    let world = try await World(configuration: .publicDatabase())
    world.addTeams(1...3)
    _ = try await world.engine.sync()
    try await world.engine.edits.upsert(Team(id: "t9", name: "Mine"), key: "t9")
    try await world.engine.edits.upsert(Team(id: "t2", name: "Mine"), key: "t2")
    world.remote.delete("teams", "t1")
    world.remote.delete("teams", "t2")
    _ = try await world.engine.resync("teams")
    _ = try await world.engine.resync("teams")
    #expect(world.keys("teams") == ["t2", "t3", "t9"])
  }

  @Test func toARecordThatIsDeletedAtTheRemoteAreSettledByTheLaterOne() async throws {
    let world = try await synced()
    try await world.engine.edits.delete(Self.game)
    world.clock.advance(by: .seconds(10))
    world.remote.delete("teams", "t2")
    world.clock.advance(by: .seconds(10))
    try await world.engine.edits.upsert(Team(id: "t2", name: "Alive"), key: "t2")
    _ = try await world.engine.sync()
    #expect(world.keys("teams") == ["t1", "t2"])
    let entry = try #require(try await entry(world, RecordID(type: "teams", key: "t2")))
    #expect(entry.base.record == nil && entry.base != .none)
  }

  @Test func ofAClockFarAheadAreToldAndNotBelieved() async throws {
    let world = try await synced()
    world.remote.upsert(
      "teams", "t1", #"{"id":"t1","name":"From the future"}"#,
      modifiedAt: world.clock.timestamp + .seconds(86_400))
    world.clock.advance(by: .seconds(10))
    try await world.engine.edits.upsert(Team(id: "t1", name: "Now"), key: "t1")
    _ = try await world.engine.sync()
    let told = world.recorder.events.contains {
      if case .clockAhead(Self.team, let ahead) = $0 { ahead > .seconds(86_000) } else { false }
    }
    #expect(told)
    #expect(try await text(world, Self.team)?.contains("Now") == true)
  }

  @Test func ofAPreviousVersionOfTheClockAreNeverOvertaken() async throws {
    let world = try await synced()
    world.clock.timestamp = world.clock.timestamp + .seconds(86_400)
    try await world.engine.edits.upsert(Team(id: "t1", name: "Ahead"), key: "t1")
    let first = try #require(try await entry(world, Self.team))
    world.clock.timestamp = world.clock.timestamp - .seconds(86_400)
    try await world.engine.edits.upsert(Team(id: "t1", name: "Back"), key: "t1")
    let second = try #require(try await entry(world, Self.team))
    #expect(second.edit.stamp > first.edit.stamp)
  }
}
