import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("After the reset of a moving collection that sends tombstones,", .timeLimit(.minutes(10)))
struct SecondListingTests {
  @Test func whatOneListingLackedGoesWithASecondOneAtTheNextSync() async throws {
    let world = try await World(configuration: .timestampedCollection())
    world.addTeams(1...5)
    world.addGame("g1", home: "t9", away: "t1")
    _ = try await world.engine.sync()
    world.remote.wipe("teams")
    world.remote.wipe("games")
    world.addTeams(1...4)
    let first = try await world.engine.sync()
    #expect(first["teams"].swept == 0)
    #expect(world.keys("teams") == ["t1", "t2", "t3", "t4", "t5"])
    let second = try await world.engine.sync()
    #expect(second["teams"].swept == 1)
    #expect(world.isEqual("teams"))
    #expect(try await world.engine.explain(RecordID(type: "games", key: "g1")).withheld.isEmpty)
  }

  @Test func aRecordGoesAlsoIfAChangeOfItIsWithheld() async throws {
    let world = try await World([World.teams], configuration: .timestampedCollection())
    world.addTeams(1...3)
    _ = try await world.engine.sync()
    world.remote.upsert("teams", "t2", #"{"schema":2}"#)
    _ = try await world.engine.sync()
    world.remote.wipe("teams")
    world.addTeams(3...4)
    for _ in 1...2 { _ = try await world.engine.sync() }
    #expect(world.isEqual("teams"))
    #expect(try await world.engine.status()[0].withheld.isEmpty)
  }

  @Test func nothingIsListedAgainForARecordWhoseEditWaitsForTheApp() async throws {
    let clock = ManualClock()
    let remote = InMemoryRemote(configuration: .timestampedCollection(), clock: clock)
    let store = InMemoryStore(leaseClock: { clock.timestamp })
    let engine = try await SyncEngine(
      schema: SyncSchema([World.teams]), store: store, source: remote, sink: remote, clock: clock,
      random: RepeatedNumber())
    for n in 1...3 { remote.upsert("teams", "t\(n)", "{}") }
    _ = try await engine.sync()
    clock.advance(by: .seconds(100))
    remote.delete("teams", "t2")
    remote.expireTokens()
    _ = try await engine.sync(SyncRequest(direction: .pull))
    let id = RecordID(type: "teams", key: "t2")
    #expect(try await engine.explain(id).withheld.map(\.kind) == [.missing])
    clock.advance(by: .seconds(100))
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(id) { $0["edited"] = Array("true".utf8)[...] }
    }
    remote.rule(.refused(reason: "no"), on: "teams", "t2")
    var listings: [Int] = []
    for _ in 1...4 {
      clock.advance(by: .seconds(100))
      let before = remote.requestLog.count
      _ = try await engine.sync()
      listings.append(remote.requestLog[before...].count { $0.position == .start(since: nil) })
    }
    #expect(listings == [1, 0, 0, 0])
    // After the app has given the edit up, one listing is enough.
    try await engine.edits.discard(id)
    for _ in 1...2 { _ = try await engine.sync() }
    #expect(store.records(of: "teams").map(\.id.key).sorted() == ["t1", "t3"])
  }

  // A collection without deltas may answer with its old token that nothing has changed.
  @Test func whatOneListingLackedGoesAlsoIfTheRemoteIsQuiet() async throws {
    var configuration = InMemoryRemote.Configuration.fullOnly
    configuration.listing = .moving
    let world = try await World([World.teams], configuration: configuration)
    world.addTeams(1...5)
    _ = try await world.engine.sync()
    world.remote.delete("teams", "t3")
    let swept = [
      try await world.engine.sync()["teams"].swept, try await world.engine.sync()["teams"].swept,
    ]
    #expect(swept == [0, 1])
    #expect(world.isEqual("teams"))
    let requests = world.remote.requestLog.count
    _ = try await world.engine.sync()
    #expect(world.remote.requestLog[requests...].count { $0.position == .start(since: nil) } == 0)
  }

  @Test func nothingIsListedASecondTimeWhereNothingWasLacking() async throws {
    let world = try await World(configuration: .timestampedCollection())
    world.addTeams(1...5)
    _ = try await world.engine.sync()
    world.remote.expireTokens()
    _ = try await world.engine.sync()
    _ = try await world.engine.sync()
    let starts = world.remote.requestLog.filter { $0.entity.type == "teams" }.map(\.position)
    #expect(starts.count { $0 == .start(since: nil) } == 2)
  }
}
