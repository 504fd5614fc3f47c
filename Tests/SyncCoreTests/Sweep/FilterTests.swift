import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("A filter of the app", .timeLimit(.minutes(10)))
struct FilterTests {
  static let configurations: [InMemoryRemote.Configuration] = [
    .privateZone, .timestampedCollection(), .publicDatabase(), .sweptDatabase(), .fullOnly,
  ]

  private static func isUpTo(_ last: Int) -> Condition { .atMost("number", .integer(Int64(last))) }

  /// A world of numbered teams, whose guard against mass deletion asks early.
  private func world(
    _ configuration: InMemoryRemote.Configuration, visibility: Entity.Visibility = .perPage, teams: Int = 60
  ) async throws -> World {
    let world = try await World(
      [Entity("teams", indexes: ["number"], visibility: visibility)], configuration: configuration,
      options: SyncOptions(deletionCheckInterval: .zero, massDeletionRecords: 10))
    for number in 1...teams { put(world, number, number) }
    return world
  }

  private func put(_ world: World, _ key: Int, _ number: Int) {
    world.remote.upsert("teams", "t\(key)", #"{"id":"t\#(key)","number":\#(number)}"#)
  }

  @Test(arguments: configurations, [Entity.Visibility.perPage, .wholeEntity])
  func thatShrinksRemovesTheRestAtTheNextSyncAndOneThatGrowsBringsItBack(
    _ configuration: InMemoryRemote.Configuration, _ visibility: Entity.Visibility
  ) async throws {
    let world = try await world(configuration, visibility: visibility)
    _ = try await world.engine.sync()
    try world.engine.setFilter(Self.isUpTo(3), for: "teams")
    let shrunk = try await world.engine.sync()
    #expect(shrunk.refusedSweeps.isEmpty && shrunk.failures.isEmpty)
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
    try world.engine.setFilter(nil, for: "teams")
    _ = try await world.engine.sync()
    #expect(world.isEqual("teams"))
  }

  @Test(arguments: configurations)
  func holdsInDeltas(_ configuration: InMemoryRemote.Configuration) async throws {
    let world = try await world(configuration, teams: 6)
    try world.engine.setFilter(Self.isUpTo(3), for: "teams")
    _ = try await world.engine.sync()
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
    world.clock.advance(by: .seconds(60))
    put(world, 1, 9)
    put(world, 5, 2)
    put(world, 7, 7)
    world.clock.advance(by: .seconds(60))
    for _ in 0..<2 { #expect(try await world.engine.sync().failures.isEmpty) }
    #expect(world.keys("teams") == ["t2", "t3", "t5"])
  }

  @Test func thatLeavesOutEverythingEmptiesTheTypeUnasked() async throws {
    let world = try await world(.fullOnly)
    _ = try await world.engine.sync()
    try world.engine.setFilter(Self.isUpTo(0), for: "teams")
    #expect(try await world.engine.sync().refusedSweeps.isEmpty)
    #expect(world.keys("teams").isEmpty)
  }

  @Test func excusesNothingThatTheRemoteLacks() async throws {
    let world = try await world(.fullOnly)
    try world.engine.setFilter(Self.isUpTo(50), for: "teams")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    for number in 5...60 { world.remote.delete("teams", "t\(number)") }
    #expect(try await world.engine.sync().refusedSweeps.count == 1)
    #expect(world.keys("teams").count == 50)
  }

  @Test func sparesARecordWithAPendingEditUntilItHasArrived() async throws {
    let world = try await world(.privateZone, teams: 6)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, sink: world.remote,
      clock: world.clock)
    _ = try await engine.sync()
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "teams", key: "t5")) { $0["name"] = Array(#""N""#.utf8)[...] }
    }
    try engine.setFilter(Self.isUpTo(3), for: "teams")
    _ = try await engine.sync(SyncRequest(direction: .pull))
    #expect(world.keys("teams") == ["t1", "t2", "t3", "t5"])
    for _ in 0..<3 {
      world.clock.advance(by: .seconds(60))
      _ = try await engine.sync()
    }
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
    let arrived = world.remote.records(of: "teams").first { $0.key == "t5" }
    #expect(arrived.map { String(decoding: $0.payload.bytes, as: UTF8.self).contains("N") } == true)
    #expect(try await engine.edits.pending("teams").isEmpty)
  }

  @Test func ofACallWhileASyncRunsTakesEffectInASyncOfItsOwn() async throws {
    let world = try await world(.privateZone)
    let engine = world.engine
    _ = try await engine.sync()
    world.remote.behave(.hang, on: world.remote.counters().requests + 1)
    async let first = engine.sync()
    await world.remote.waitUntilRequestHangs()
    try engine.setFilter(Self.isUpTo(3), for: "teams")
    async let second = engine.sync(SyncRequest(ifBusy: .join))
    world.remote.releaseHanging()
    _ = try await (first, second)
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
  }

  @Test func isRefusedForATypeThatIsNotDeclared() async throws {
    let world = try await world(.privateZone, teams: 1)
    #expect(throws: SyncError.self) { () throws in try world.engine.setFilter(nil, for: "nothing") }
    try world.engine.setFilter(Self.isUpTo(3), for: "teams")
    #expect(world.engine.filters == ["teams": Self.isUpTo(3)])
  }
}
