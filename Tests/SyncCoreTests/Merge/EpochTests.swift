import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A remote that starts over", .timeLimit(.minutes(10)))
struct EpochTests {
  @Test func winsWithItsNewVersionsInAWholeEntityToo() async throws {
    let world = try await World([Entity("teams", visibility: .wholeEntity)])
    for name in ["a", "b", "c"] { world.addTeams(1...5, name: name) }
    _ = try await world.engine.sync()
    world.remote.wipe("teams")
    world.addTeams(1...5, name: "after")
    _ = try await world.engine.sync()
    #expect(world.isEqual("teams"))
  }

  @Test func winsWithARecordThatHadToWait() async throws {
    let world = try await World()
    world.addTeams(1...2)
    for date in ["1", "2", "3"] { world.addGame("g", home: "t1", away: "t2", date: date) }
    _ = try await world.engine.sync()
    world.remote.wipe("games")
    world.addGame("g", home: "t1", away: "t3", date: "4")
    _ = try await world.engine.sync()
    world.addTeams(3...3)
    _ = try await world.engine.sync()
    #expect(world.isEqual("games"))
  }

  @Test func winsInALaterDeltaWhereTheSweepWasRefused() async throws {
    let world = try await World()
    for _ in 1...3 { world.addTeams(1...300) }
    _ = try await world.engine.sync()
    world.remote.wipe("teams")
    world.addTeams(1...3)
    _ = try await world.engine.sync()
    world.addTeams(200...200, name: "again")
    _ = try await world.engine.sync()
    _ = try await world.engine.sync(SyncRequest(allowsMassDeletion: true))
    #expect(world.isEqual("teams"))
  }
}
