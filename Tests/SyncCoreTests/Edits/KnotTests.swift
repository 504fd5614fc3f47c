import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

/// Whatever waits, waits for something that can still happen.
@Suite("Edits that wait for each other", .timeLimit(.minutes(10)))
struct KnotTests {
  private static let tags = Entity(
    "tags", references: [.to("tags", by: "up")], naturalKey: NaturalKey("name", normalizedBy: .alphanumeric))
  private static let notes = Entity("notes", references: [.to("tags", by: "tag")])

  private func expectSettled(_ world: PushWorld, _ types: [RecordType]) async throws {
    for type in types {
      let waiting = try await world.engine.edits.waiting(type)
      #expect(waiting.isEmpty, "\(waiting.map { "\($0.entry.id) \($0.reason)" })")
      #expect(world.here(type) == world.there(type), "\(type)")
    }
  }

  @Test(arguments: [true, false], [true, false])
  func endWhereTheParentWasMadeAndDeletedElsewhere(isKnown: Bool, pullsFirst: Bool) async throws {
    let world = try await PushWorld()
    if isKnown {
      world.remote.upsert("meters", "m1", #"{"name":0}"#)
      _ = try await world.engine.sync()
    }
    try await world.write("meters", "m1")
    try await world.write("readings", "r1", ["meter": #""m1""#])
    world.clock.advance(by: .seconds(10))
    if !isKnown { world.remote.upsert("meters", "m1", #"{"name":5}"#) }
    world.remote.delete("meters", "m1")
    if pullsFirst { _ = try await world.engine.sync(SyncRequest(direction: .pull)) }
    for _ in 1...3 { _ = try await world.engine.sync() }
    try await expectSettled(world, ["meters", "readings"])
    #expect(world.there("readings") == ["r1": #"{"meter":"m1"}"#])
  }

  private static let names = ["null", #""Home""#]

  /// Two duplicates, of which this device has elected one.
  private func elected(_ keys: [String]) async throws -> (world: PushWorld, winner: String, losers: [String])
  {
    let world = try await PushWorld([Self.tags, Self.notes])
    for key in keys {
      world.clock.advance(by: .seconds(1))
      world.remote.upsert("tags", key, #"{"name":"Work"}"#)
    }
    _ = try await world.engine.sync()
    _ = try await world.engine.rebuildDuplicates(of: "tags", version: 1)
    let winner = try #require(world.here("tags").keys.first)
    world.clock.advance(by: .seconds(10))
    return (world, winner, keys.filter { $0 != winner })
  }

  @Test(arguments: [true, false], 1...15 as ClosedRange<Int>)
  func endWhereDuplicatesGetOtherNaturalKeys(isReferred: Bool, changes: Int) async throws {
    let (world, winner, losers) = try await elected(["a", "b"])
    let name = Self.names[changes & 1]
    if isReferred { world.remote.upsert("notes", "n", "{\"tag\":\"\(losers[0])\"}") }
    if changes & 2 != 0 { world.remote.upsert("tags", losers[0], "{\"name\":\(name)}") }
    if changes & 4 != 0 { world.remote.upsert("tags", winner, "{\"name\":\(name)}") }
    if changes & 8 != 0 { try await world.write("tags", winner, ["size": "2"]) }
    for _ in 1...5 { _ = try await world.engine.sync() }
    try await expectSettled(world, ["tags", "notes"])
    if isReferred { #expect(world.here("notes").count == 1) }
  }

  @Test(arguments: 1...15) func endWhereTheWinnerOfThreeComesToReferToALoser(changes: Int) async throws {
    let (world, winner, losers) = try await elected(["a", "b", "c"])
    let name = changes & 1 != 0 ? #""Work""# : "null"
    world.remote.upsert("tags", winner, "{\"name\":\(name),\"up\":\"\(losers[0])\"}")
    if changes & 2 != 0 { world.remote.upsert("tags", losers[0], #"{"name":"Home"}"#) }
    if changes & 4 != 0 {
      world.remote.upsert("tags", losers[1], "{\"name\":\"Work\",\"up\":\"\(losers[0])\"}")
    }
    if changes & 8 != 0 { try await world.write("tags", winner, ["size": "2"]) }
    for _ in 1...5 { _ = try await world.engine.sync() }
    try await expectSettled(world, ["tags"])
    #expect(world.there("tags").count >= 1)
  }

  @Test func endWhereTwoRecordsAreMadeThatReferToEachOthersDeletedParent() async throws {
    let world = try await PushWorld()
    try await world.write("folders", "f1")
    try await world.write("folders", "f2", ["parent": #""f1""#])
    world.clock.advance(by: .seconds(10))
    world.remote.upsert("folders", "f1", #"{"name":5}"#)
    world.remote.delete("folders", "f1")
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    for _ in 1...3 { _ = try await world.engine.sync() }
    try await expectSettled(world, ["folders"])
    #expect(world.there("folders").keys.sorted() == ["f1", "f2"])
  }

  /// An update that drops the natural key of a winner, or its deletion, must not let a loser be
  /// deleted under a record that refers to it at the remote.
  @Test(arguments: [true, false]) func deleteNoRecordToWhichARecordAtTheRemoteRefers(isDeletion: Bool)
    async throws
  {
    let (world, winner, losers) = try await elected(["a", "b"])
    world.remote.upsert("notes", "n", "{\"tag\":\"\(losers[0])\"}")
    if isDeletion {
      try await world.delete("tags", winner)
    } else {
      try await world.write("tags", winner, ["name": #""Home""#])
    }
    for _ in 1...4 { _ = try await world.engine.sync() }
    try await expectSettled(world, ["tags", "notes"])
    #expect(world.there("notes") == ["n": "{\"tag\":\"\(losers[0])\"}"])
    #expect(world.there("tags")[losers[0]] != nil)
  }
}
