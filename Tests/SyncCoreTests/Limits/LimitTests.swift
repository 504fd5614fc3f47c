import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("At its limits, a sync", .timeLimit(.minutes(10)))
struct LimitTests {
  @Test func ofAnEmptyRemoteBringsNothing() async throws {
    let world = try await World()
    let result = try await world.engine.sync()
    #expect(result.isEmpty)
    #expect(result.entities.map(\.type) == ["teams", "games"])
    #expect(try await world.engine.sync().isEmpty)
  }

  /// The guard acts on more than 100 records *and* more than half of the type.
  @Test(arguments: [
    (101, 100, true), (101, 101, false), (202, 101, true), (201, 101, false), (300, 100, true),
  ])
  func refusesToRemoveOver100RecordsAndOverHalf(_ count: Int, _ removed: Int, _ isAllowed: Bool) async throws
  {
    let world = try await World([Entity("teams")], configuration: .fullOnly)
    world.addTeams(1...count)
    _ = try await world.engine.sync()
    for number in 1...removed { world.remote.delete("teams", "t\(number)") }
    let result = try await world.engine.sync()
    #expect(result.refusedSweeps.isEmpty == isAllowed)
    #expect(world.keys("teams").count == (isAllowed ? count - removed : count))
    #expect(result.isBalanced)
  }

  @Test(arguments: [1, 2, 50])
  func removesAWholeTreeWhateverThePages(_ pageSize: Int) async throws {
    let nodes = Entity("nodes", references: [.to("nodes", by: "parent")])
    let world = try await World([nodes], options: SyncOptions(pageSize: pageSize))
    for (key, parent) in [("a", "b"), ("b", "c"), ("c", "c"), ("d", "b")] {
      world.remote.upsert("nodes", key, #"{"parent":"\#(parent)"}"#)
    }
    _ = try await world.engine.sync()
    // The root refers to itself, and need not wait for that.
    #expect(world.keys("nodes") == ["a", "b", "c", "d"])
    for key in ["c", "b", "a", "d"] { world.remote.delete("nodes", key) }
    _ = try await world.engine.sync()
    #expect(world.keys("nodes").isEmpty)
    #expect(try await world.engine.status()[0].withheld.isEmpty)
  }

  @Test func releasesThreeLevelsAtOnce() async throws {
    let world = try await World([
      Entity("a"), Entity("b", references: [.to("a", by: "a")]), Entity("c", references: [.to("b", by: "b")]),
      Entity("d", references: [.to("c", by: "c")]),
    ])
    world.remote.upsert("d", "1", #"{"c":"1"}"#)
    world.remote.upsert("c", "1", #"{"b":"1"}"#)
    world.remote.upsert("b", "1", #"{"a":"1"}"#)
    #expect(try await world.engine.sync().total.deferred == 3)
    world.remote.upsert("a", "1", "{}")
    let result = try await world.engine.sync()
    #expect(result.total.inserted == 1)
    #expect(result.total.replayed == 3)
  }

  @Test func bringsACycleWhoseOneReferenceIsUnordered() async throws {
    let world = try await World([
      Entity("teams", references: [.to("people", by: "captain", ordered: false)]),
      Entity("people", references: [.to("teams", by: "team")]),
    ])
    world.remote.upsert("teams", "t", #"{"captain":"p"}"#)
    world.remote.upsert("people", "p", #"{"team":"t"}"#)
    #expect(try await world.engine.sync().total.inserted == 2)
    world.remote.delete("people", "p")
    world.remote.delete("teams", "t")
    #expect(try await world.engine.sync().total.deleted == 2)
  }

  @Test func replacesATooNewRecordByAnOldOneAndTheReverse() async throws {
    let world = try await World([World.teams])
    world.remote.upsert("teams", "t1", #"{"schema":2}"#)
    world.remote.upsert("teams", "t2", #"{"schema":1}"#)
    _ = try await world.engine.sync()
    #expect(world.keys("teams") == ["t2"])
    world.remote.upsert("teams", "t1", #"{"schema":1}"#)
    world.remote.upsert("teams", "t2", #"{"schema":2}"#)
    let result = try await world.engine.sync()
    #expect(result.total.inserted == 1)
    #expect(result.total.skippedIncompatible == 1)
    #expect(world.keys("teams") == ["t1", "t2"])
    #expect(try await world.engine.status()[0].withheld == [.incompatible: 1])
    world.remote.delete("teams", "t2")
    _ = try await world.engine.sync()
    #expect(world.keys("teams") == ["t1"])
    #expect(try await world.engine.status()[0].withheld.isEmpty)
  }

  @Test func showsNoDeletedRecordAgainBecauseAReplicaLags() async throws {
    let world = try await World([World.teams])
    world.addTeams(1...3)
    _ = try await world.engine.sync()
    world.remote.delete("teams", "t2")
    _ = try await world.engine.sync()
    world.remote.expireTokens()
    world.remote.behave(.laggingReplica(changes: 1), on: 4)
    let result = try await world.engine.sync()
    #expect(world.remote.unplayedBehaviours == 0)
    #expect(result.total.skippedOlder == 1)
    #expect(world.keys("teams") == ["t1", "t3"])
  }

  @Test func keepsTheSameBytesOfTwoRecordsBesideWhatWaitsUnderTheirIDs() async throws {
    let world = try await World()
    for key in ["g1", "g2"] { world.addGame(key, home: "t1", away: "t2") }
    _ = try await world.engine.sync()
    for key in ["g1", "g2"] { world.remote.putMalformed("games", key, Array("{".utf8)) }
    #expect(try await world.engine.sync().total.quarantined == 2)
    let games = try await world.engine.status().first { $0.type == "games" }
    #expect(games?.withheld == [.parked: 2, .quarantined: 2])
  }

  @Test(arguments: [1, 10])
  func showsOneOfTwoRecordsWithOneIDAndKeepsTheOther(_ pageSize: Int) async throws {
    let store = InMemoryStore()
    let source = ListedPages(pageSize: pageSize, [("a", "1"), ("b", "2"), ("a", "3")])
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("items")), store: store, source: source, clock: ManualClock())
    let result = try await engine.sync()
    #expect(result.total.inserted == 2)
    #expect(result.total.quarantined == 1)
    #expect(result.isBalanced)
    #expect(
      store.records(of: "items").map { String(decoding: $0.payload.bytes, as: UTF8.self) } == ["3", "2"])
    #expect(try await engine.status()[0].withheld == [.quarantined: 1])
  }

  @Test func letsTheCopyFetchedLastWinWhereVersionsGoBack() async throws {
    for (order, winner) in [(SourceCapabilities.VersionOrder.latestFetched, "late"), (.perChange, "early")] {
      let world = try await World([Entity("teams")])
      let source = ListedPages(
        pageSize: 1, versions: [2, 1], order: order, listing: .moving, [("a", "early"), ("a", "late")])
      let engine = try await SyncEngine(
        schema: world.engine.schema, store: world.store, source: source, clock: world.clock)
      _ = try await engine.sync()
      let shown = world.store.records(of: "teams").map { String(decoding: $0.payload.bytes, as: UTF8.self) }
      #expect(shown == [winner])
    }
  }
}
