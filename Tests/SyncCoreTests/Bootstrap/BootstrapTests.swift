import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A bundled data set", .timeLimit(.minutes(10)))
struct BootstrapTests {
  static let layout = RecordLayout(modifiedAt: "updated_at", deleted: "deleted")

  private func load(_ json: String, into world: World) async throws(SyncError) -> Bootstrap.Result {
    try await Bootstrap(Array(json.utf8), layout: Self.layout).load(
      into: world.store, graph: world.engine.graph, source: world.remote, clock: world.clock)
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
    let graph = try EntityGraph(Entity("teams"))
    let tombstone = #"{"id":"t1","deleted":true,"updated_at":9000000000000}"#
    let bundle = Array(#"{"format":1,"types":{"teams":{"records":[\#(tombstone)]}}}"#.utf8)
    _ = try await Bootstrap(bundle, layout: Self.layout).load(into: store, graph: graph, source: source)
    _ = try await SyncEngine(graph: graph, store: store, source: source, clock: ManualClock()).sync()
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
    #expect(games1?.setAside == [.parked: 1, .quarantined: 1])
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
