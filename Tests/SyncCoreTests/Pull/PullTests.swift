import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A pull", .timeLimit(.minutes(10)))
struct PullTests {
  static let configurations: [InMemoryRemote.Configuration] = [
    .privateZone, .publicDatabase(), .timestampedCollection(), .fullOnly,
  ]

  @Test(arguments: configurations)
  func bringsEveryRecordOverManyPages(_ configuration: InMemoryRemote.Configuration) async throws {
    let world = try await World(configuration: configuration, options: SyncOptions(pageSize: 7))
    world.addTeams(1...50)
    for number in 1...49 { world.addGame("g\(number)", home: "t\(number)", away: "t\(number + 1)") }
    let result = try await world.engine.sync()
    #expect(world.isEqual("teams"))
    #expect(world.isEqual("games"))
    #expect(result["teams"].inserted == 50)
    #expect(result["games"].inserted == 49)
    #expect(result["teams"].pages >= 8)
    #expect(result.total.fetched == result.total.outcomes - result.total.swept)
  }

  @Test(arguments: configurations)
  func bringsOnlyWhatChangedTheSecondTime(_ configuration: InMemoryRemote.Configuration) async throws {
    let world = try await World(configuration: configuration)
    world.addTeams(1...20)
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(60))
    let quiet = try await world.engine.sync()
    #expect(quiet.isEmpty)
    world.addTeams(3...4, name: "Renamed")
    world.remote.delete("teams", "t9")
    world.clock.advance(by: .seconds(60))
    let result = try await world.engine.sync()
    #expect(result["teams"].updated == 2)
    #expect(result["teams"].inserted == 0)
    // A remote without tombstones and with a moving listing shows a deletion when two listings lack
    // the record.
    if world.remote.capabilities.sendsTombstones || world.remote.capabilities.listing == .snapshot {
      #expect(result["teams"].deleted == 1)
      #expect(world.isEqual("teams"))
    }
    #expect(result.total.fetched == result.total.outcomes - result.total.swept)
  }

  @Test func goesOnAfterACancellationWhereItStopped() async throws {
    let world = try await World(options: SyncOptions(pageSize: 10, pagesAhead: 1))
    world.addTeams(1...100)
    let source = CancellationSource()
    let stopper = AfterPages(3) { source.cancel() }
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, clock: world.clock,
      options: SyncOptions(pageSize: 10, pagesAhead: 1), observers: [stopper])
    let result = try await engine.sync(token: source)
    #expect(result.wasCancelled)
    #expect(result.total.pages == 3)
    #expect(world.keys("teams").count == 30)
    let rest = try await world.engine.sync()
    #expect(!rest.wasCancelled)
    #expect(rest["teams"].inserted == 70)
    #expect(rest["teams"].fetched == 70)
    #expect(world.isEqual("teams"))
  }

  @Test func parksChildrenUntilTheirParentsCome() async throws {
    let world = try await World()
    world.addTeams(1...1)
    world.addGame("g1", home: "t1", away: "t2")
    let first = try await world.engine.sync()
    #expect(first["games"].deferred == 1)
    #expect(world.keys("games").isEmpty)
    world.addTeams(2...2)
    let second = try await world.engine.sync()
    #expect(second["teams"].inserted == 1)
    #expect(second["games"].replayed == 1)
    #expect(world.keys("games") == ["g1"])
  }

  @Test func holdsAParentsDeletionUntilItsChildrenAreGone() async throws {
    let world = try await World()
    world.addTeams(1...2)
    world.addGame("g1", home: "t1", away: "t2")
    _ = try await world.engine.sync()
    world.remote.delete("teams", "t1")
    let held = try await world.engine.sync()
    #expect(held["teams"].deferred == 1)
    #expect(world.keys("teams") == ["t1", "t2"])
    world.remote.delete("games", "g1")
    let released = try await world.engine.sync()
    #expect(released["games"].deleted == 1)
    #expect(world.keys("teams") == ["t2"])
  }

  @Test func removesParentsAndChildrenDeletedTogetherInOneSync() async throws {
    let world = try await World()
    world.addTeams(1...2)
    world.addGame("g1", home: "t1", away: "t2")
    _ = try await world.engine.sync()
    world.remote.delete("games", "g1")
    world.remote.delete("teams", "t1")
    let result = try await world.engine.sync()
    #expect(result["teams"].deleted == 1)
    #expect(result["teams"].deferred == 0)
    #expect(result["games"].deleted == 1)
    #expect(result.total.fetched == result.total.outcomes - result.total.swept)
  }

  @Test func startsOverWhenTheTokenHasExpired() async throws {
    let world = try await World()
    world.addTeams(1...10)
    _ = try await world.engine.sync()
    world.remote.delete("teams", "t5")
    world.addTeams(11...11)
    world.remote.expireTokens()
    let result = try await world.engine.sync()
    #expect(world.isEqual("teams"))
    #expect(result["teams"].unchanged == 9)
    #expect(result["teams"].inserted == 1)
    #expect(result["teams"].swept == 1)
    #expect(result["teams"].deleted == 1)
  }

  @Test func takesAWipedRemotesWordOverItsOldVersions() async throws {
    let world = try await World()
    world.addTeams(1...10, name: "Before")
    world.addTeams(1...10, name: "Before2")
    _ = try await world.engine.sync()
    world.remote.wipe("teams")
    world.addTeams(1...8, name: "After")
    _ = try await world.engine.sync()
    #expect(world.isEqual("teams"))
  }

  @Test func refusesAMassDeletionUntilItIsAllowed() async throws {
    let world = try await World()
    world.addTeams(1...300)
    _ = try await world.engine.sync()
    world.remote.wipe("teams")
    world.addTeams(1...10)
    let refused = try await world.engine.sync()
    #expect(refused.refusedSweeps.count == 1)
    #expect(world.keys("teams").count == 300)
    let again = try await world.engine.sync()
    #expect(again.refusedSweeps.count == 1)
    let allowed = try await world.engine.sync(SyncRequest(allowsMassDeletion: true))
    #expect(allowed["teams"].swept == 290)
    #expect(world.isEqual("teams"))
  }

  @Test func withholdsMalformedRecordsAndGoesOn() async throws {
    let world = try await World()
    world.addTeams(1...3)
    world.remote.putMalformed("teams", nil, Array("{oops".utf8))
    world.remote.putMalformed("teams", "t2", Array(#"{"id":"t2","#.utf8))
    let result = try await world.engine.sync()
    #expect(result["teams"].quarantined == 2)
    #expect(result["teams"].inserted == 2)
    world.addTeams(2...2)
    let cured = try await world.engine.sync()
    #expect(cured["teams"].inserted == 1)
    #expect(try await world.engine.explain(RecordID(type: "teams", key: "t2")).withheld.isEmpty)
  }

  @Test func takesACureThatTheSameDeltaBrings() async throws {
    let world = try await World()
    _ = try await world.engine.sync()
    world.remote.putMalformed("teams", "t1", Array(#"{"id":"t1","#.utf8))
    world.addTeams(2...3)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, clock: world.clock,
      options: SyncOptions(pageSize: 1, pagesAhead: 0, maximumConcurrentTypes: 1),
      observers: [AfterPages(1) { world.addTeams(1...1) }])
    let result = try await engine.sync()
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
    #expect(try await world.engine.explain(RecordID(type: "teams", key: "t1")).withheld.isEmpty)
    #expect(result["teams"].quarantined == 0)
    #expect(result["teams"].inserted == 3)
  }

  @Test func countsTheSameBytesAsOftenAsTheyOccur() async throws {
    let world = try await World(configuration: .fullOnly)
    world.remote.putMalformed("teams", nil, Array("{x".utf8))
    world.remote.putMalformed("teams", nil, Array("{x".utf8))
    world.addTeams(1...1)
    let result = try await world.engine.sync()
    #expect(result["teams"].quarantined == 2)
    #expect(result["teams"].inserted == 1)
  }

  @Test func keepsRecordsOfANewerSchemaUntilTheAppUnderstandsThem() async throws {
    let world = try await World()
    world.remote.upsert("teams", "t1", #"{"id":"t1","schema":2,"new":[1,2]}"#)
    let result = try await world.engine.sync()
    #expect(result["teams"].skippedIncompatible == 1)
    let upgraded = try await World(
      [Entity("teams", schemaVersion: 2, schemaVersionField: "schema")], remote: world.remote,
      store: world.store)
    let replay = try await upgraded.engine.sync()
    #expect(replay["teams"].replayed == 1)
    #expect(upgraded.isEqual("teams"))
  }

  @Test func showsAWholeEntityOnlyWhenItIsComplete() async throws {
    let whole = Entity("teams", visibility: .wholeEntity)
    let world = try await World([whole], options: SyncOptions(pageSize: 10))
    world.addTeams(1...35)
    world.remote.behave(.fail(SyncError(.authentication, during: "fetching")), on: 3)
    await #expect(throws: SyncError.self) { try await world.engine.sync() }
    #expect(world.keys("teams").isEmpty)
    let result = try await world.engine.sync()
    #expect(world.isEqual("teams"))
    #expect(result["teams"].inserted == 15)
    #expect(result["teams"].replayed == 20)
    #expect(result.total.fetched == result.total.outcomes - result.total.swept)
  }
}
