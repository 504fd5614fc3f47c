import CanonicalSync
import InMemoryAdapters
import Testing

/// A replaced remote restarts its versions, and its listing supersedes all earlier copies.
@Suite("A replaced remote", .timeLimit(.minutes(10)))
struct ReplacedRemoteTests {
  @Test(arguments: [
    InMemoryRemote.Configuration.privateZone, .timestampedCollection(), .publicDatabase(),
  ])
  func isNoticedByAPassThatListsEverything(_ configuration: InMemoryRemote.Configuration) async throws {
    let world = try await World(configuration: configuration)
    world.addTeams(1...9)
    _ = try await world.engine.sync()
    world.remote.wipe("teams")
    world.addTeams(1...3, name: "Renamed")
    // The app's update invalidates the checkpoint. Only its token could show the replacement.
    let updated = Entity("teams", schemaVersion: 2, schemaVersionField: "schema")
    let clock = world.clock
    let engine = try await SyncEngine(
      schema: SyncSchema(updated, World.games), store: world.store, source: world.remote, clock: clock,
      random: RepeatedNumber())
    _ = try await engine.sync()
    clock.advance(by: .seconds(1))
    _ = try await engine.resync()
    #expect(world.isEqual("teams"))
  }

  @Test func isNoticedByAResync() async throws {
    let world = try await World()
    world.addTeams(1...9)
    _ = try await world.engine.sync()
    world.remote.wipe("teams")
    world.addTeams(1...3, name: "Renamed")
    let result = try await world.engine.resync("teams")
    #expect(result["teams"].updated == 3)
    #expect(result["teams"].swept == 6)
    #expect(world.isEqual("teams"))
  }

  @Test func wasNoneWhereTheTokenStillCounts() async throws {
    let world = try await World()
    world.addTeams(1...9)
    _ = try await world.engine.sync()
    let result = try await world.engine.resync("teams")
    #expect(result["teams"].unchanged == 9)
    #expect(result["teams"].fetched == 9)
  }
}

@Suite("A clock that was wrong", .timeLimit(.minutes(10)))
struct WrongClockTests {
  @Test func doesNotPutTheNextLookForDeletionsOff() async throws {
    var configuration = InMemoryRemote.Configuration.publicDatabase()
    configuration.supportsLookup = true
    let world = try await World(configuration: configuration)
    world.addTeams(1...3)
    let today = world.clock.timestamp
    world.clock.timestamp = today + .seconds(365 * 24 * 3600)
    _ = try await world.engine.sync()
    world.clock.timestamp = today
    world.remote.delete("teams", "t2")
    _ = try await world.engine.sync()
    #expect(world.keys("teams") == ["t1", "t3"])
  }
}
