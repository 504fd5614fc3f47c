import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("A bundled data set", .timeLimit(.minutes(10)))
struct BootstrapTests {
  static let layout = RecordLayout(modifiedAt: "updated_at", deleted: "deleted")

  private func load(_ json: String, into world: World) async throws(SyncError) -> Bootstrap.Result {
    try await Bootstrap(Array(json.utf8), layout: Self.layout).load(
      into: world.store, schema: world.engine.schema, source: world.remote, clock: world.clock)
  }

  @Test func withATokenIsFollowedByADelta() async throws {
    let world = try await World()
    world.addTeams(1...3)
    _ = try await world.engine.sync()
    let checkpoint = try await world.store.read { (snapshot) throws(SyncError) in
      try snapshot.checkpoint(for: "teams")
    }
    let token = try #require(checkpoint?.committed?.rawValue)
    let fresh = try await World(remote: world.remote)
    let bundle =
      #"{"format":1,"types":{"teams":{"token":"\#(token)","records":[{"id":"t1"},{"id":"t2"}]}}}"#
    #expect(try await load(bundle, into: fresh).loaded == ["teams": 2])
    #expect(fresh.keys("teams") == ["t1", "t2"])
    world.addTeams(4...4)
    let result = try await fresh.engine.sync()
    #expect(result["teams"].fetched == 1)
    #expect(fresh.keys("teams") == ["t1", "t2", "t4"])
  }

  // R5.2
  @Test func withATokenIsFollowedByADeltaWhereTheRemoteSendsNoTombstones() async throws {
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.sendsTombstones = false
    let made = try await World(configuration: configuration)
    made.addTeams(1...500)
    _ = try await made.engine.sync()
    let checkpoint = try await made.store.read { (snapshot) throws(SyncError) in
      try snapshot.checkpoint(for: "teams")
    }
    let token = try #require(checkpoint?.committed?.rawValue)
    let records = (1...500).map { #"{"id":"t\#($0)","name":"Team"}"# }.joined(separator: ",")
    let bundle = #"{"format":1,"types":{"teams":{"token":"\#(token)","records":[\#(records)]}}}"#
    made.addTeams(501...502)
    made.remote.delete("teams", "t7")
    let fresh = try await World(remote: made.remote)
    #expect(try await load(bundle, into: fresh).loaded == ["teams": 500])
    #expect(try await fresh.engine.sync()["teams"].fetched == 2)
    #expect(fresh.keys("teams").count == 502)
    // The second pass shows the deletions since the bundle was created.
    #expect(try await fresh.engine.sync()["teams"].swept == 1)
    #expect(fresh.isEqual("teams"))
    #expect(try await fresh.engine.sync()["teams"].fetched == 0)
  }

  @Test func keepsItsLeaseHoweverLongItTakes() async throws {
    let world = try await World()
    let store = SlowStore(world.store, world.clock, eachWriteTakes: .seconds(30))
    let teams = (1...2000).map { #"{"id":"t\#($0)"}"# }.joined(separator: ",")
    let bundle = Array(#"{"format":1,"types":{"teams":{"records":[\#(teams)]},"games":{"records":[]}}}"#.utf8)
    let result = try await Bootstrap(bundle, layout: Self.layout).load(
      into: store, schema: world.engine.schema, source: world.remote, clock: world.clock)
    #expect(result.loaded == ["teams": 2000, "games": 0])
    // The writes are in portions, each under a lease that is still valid.
    #expect(store.writes > 5)
    #expect(store.writesWithoutLease == 0)
  }

  @Test func goesOnAfterALoadThatWasCutShort() async throws {
    let world = try await World()
    let store = SlowStore(world.store, world.clock, eachWriteTakes: .zero, failingAfter: 2)
    let teams = (1...1000).map { #"{"id":"t\#($0)"}"# }.joined(separator: ",")
    let json = #"{"format":1,"types":{"teams":{"records":[\#(teams)]}}}"#
    _ = try? await Bootstrap(Array(json.utf8), layout: Self.layout).load(
      into: store, schema: world.engine.schema, source: world.remote, clock: world.clock)
    #expect(world.keys("teams").count == 800)
    #expect(try await load(json, into: world).loaded == ["teams": 1000])
    #expect(world.keys("teams").count == 1000)
    #expect(try await load(json, into: world).loaded.isEmpty)
  }

  @Test func withoutATokenIsFollowedByAListingAndSwept() async throws {
    let world = try await World()
    world.addTeams(1...3)
    let bundle =
      #"{"format":1,"types":{"teams":{"records":[{"id":"t1","updated_at":9000000000000},{"id":"gone"}]}}}"#
    _ = try await load(bundle, into: world)
    #expect(world.keys("teams") == ["gone", "t1"])
    let result = try await world.engine.sync()
    #expect(result["teams"].updated == 1)
    #expect(result["teams"].swept == 1)
    #expect(world.isEqual("teams"))
  }

  @Test func losesToTheRemoteEvenWhereItSaysThatARecordIsDeleted() async throws {
    // A remote that only has times, and old ones.
    let source = ListedPages(pageSize: 1, versions: [0], [("t1", "{}")])
    let store = InMemoryStore()
    let schema = try SyncSchema(Entity("teams"))
    let tombstone = #"{"id":"t1","deleted":true,"updated_at":9000000000000}"#
    let bundle = Array(#"{"format":1,"types":{"teams":{"records":[\#(tombstone)]}}}"#.utf8)
    _ = try await Bootstrap(bundle, layout: Self.layout).load(into: store, schema: schema, source: source)
    _ = try await SyncEngine(schema: schema, store: store, source: source, clock: ManualClock()).sync()
    #expect(store.records(of: "teams").map(\.id.key) == ["t1"])
  }

  @Test func isLoadedOnce() async throws {
    let world = try await World()
    let bundle = #"{"format":1,"types":{"teams":{"records":[{"id":"t1"}]}}}"#
    #expect(try await load(bundle, into: world).loaded == ["teams": 1])
    #expect(try await load(bundle, into: world).loaded.isEmpty)
    let synced = try await World()
    synced.addTeams(2...2)
    _ = try await synced.engine.sync()
    #expect(try await load(bundle, into: synced).loaded.isEmpty)
    #expect(synced.keys("teams") == ["t2"])
  }

  @Test func isTreatedAsARemotesPagesAre() async throws {
    let world = try await World()
    let games = #"[{"id":"g1","home":"t1","away":"t9"},{"home":"t1"},{"id":"g2","home":"t1"}]"#
    let bundle =
      #"{"types":{"games":{"records":\#(games)},"teams":{"records":[{"id":"t1"}]}},"format":1}"#
    #expect(try await load(bundle, into: world).loaded == ["games": 3, "teams": 1])
    #expect(world.keys("games") == ["g2"])
    let games1 = try await world.engine.status().first { $0.type == "games" }
    #expect(games1?.withheld == [.parked: 1, .quarantined: 1])
  }

  @Test(
    arguments: [
      ("", "form"), ("[]", "form"), (#"{"format":1,"types":{"teams":{"records":[{"id":"t1"}"#, "form"),
      (#"{"types":{}}"#, "\"format\" is not 1"), (#"{"format":2,"types":{}}"#, "\"format\" is not 1"),
      (#"{"format":1,"types":{"venues":{"records":[]}}}"#, "venues, which is not declared"),
    ])
  func isRefusedWithAReason(_ json: String, _ reason: String) async throws {
    let world = try await World()
    await #expect {
      try await load(json, into: world)
    } throws: { error in
      guard let error = error as? SyncError else { return false }
      return error.code == .inconsistentData && error.description.contains(reason)
    }
    _ = try await world.engine.sync()
  }

  @Test func isRefusedWhileASyncRuns() async throws {
    let world = try await World()
    world.remote.behave(.hang, on: 1)
    let sync = Task { try await world.engine.sync() }
    await world.remote.waitUntilRequestHangs()
    await #expect {
      try await load(#"{"format":1,"types":{}}"#, into: world)
    } throws: {
      ($0 as? SyncError)?.code == .syncAlreadyInProgress
    }
    world.remote.releaseHanging()
    _ = try await sync.value
  }
}
