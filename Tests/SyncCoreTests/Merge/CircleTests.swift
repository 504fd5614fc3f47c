import CanonicalSync
import InMemoryAdapters
import Testing

/// Records of one type that refer to each other must be shown and removed together.
@Suite("A circle of references", .timeLimit(.minutes(10)))
struct CircleTests {
  static let nodes = Entity("nodes", references: [.to("nodes", by: "next"), .to("teams", by: "team")])

  private func world(
    _ configuration: InMemoryRemote.Configuration = .privateZone, page: Int = 400
  ) async throws -> World {
    try await World(
      [World.teams, Self.nodes], configuration: configuration,
      options: SyncOptions(pageSize: page, deletionCheckInterval: .seconds(60)))
  }

  private func add(_ key: String, next: String?, team: String? = nil, to world: World) {
    let next = next.map { #","next":"\#($0)""# } ?? ""
    let team = team.map { #","team":"\#($0)""# } ?? ""
    world.remote.upsert("nodes", key, #"{"id":"\#(key)"\#(next)\#(team)}"#)
  }

  private func withheld(_ world: World) async throws -> [WithheldChange.Kind: Int] {
    try await world.store.read { (snapshot) throws(SyncError) in try snapshot.withheldCounts("nodes") }
  }

  // MARK: New ones

  @Test(arguments: [1, 2, 400]) func isShownWhole(page: Int) async throws {
    let world = try await world(page: page)
    add("a", next: "b", to: world)
    add("b", next: "c", to: world)
    add("c", next: "a", to: world)
    let counts = try await world.engine.sync()["nodes"]
    #expect(world.keys("nodes") == ["a", "b", "c"])
    #expect(counts.inserted == 3 && counts.deferred == 0 && counts.outcomes == counts.fetched)
    #expect(try await withheld(world).isEmpty)
  }

  @Test func isShownWithWhatHangsOnIt() async throws {
    let world = try await world(page: 1)
    for number in 0..<9 { add("t\(number)", next: number == 0 ? "a" : "t\(number - 1)", to: world) }
    add("a", next: "b", to: world)
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == [])
    add("b", next: "a", to: world)
    let counts = try await world.engine.sync()["nodes"]
    #expect(world.isEqual("nodes"))
    #expect(counts.inserted == 1 && counts.replayed == 10)
  }

  @Test func waitsForWhatOneOfItsRecordsLacks() async throws {
    let world = try await world()
    add("a", next: "b", team: "t1", to: world)
    add("b", next: "a", to: world)
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == [])
    world.addTeams(1...1)
    #expect(try await world.engine.sync()["nodes"].replayed == 2)
    #expect(world.isEqual("nodes"))
  }

  /// The target of a parked copy's reference can be deleted: only visible records hold a deletion.
  @Test func waitsAnewForWhatWentWhileItWasParked() async throws {
    let world = try await world()
    world.addTeams(1...1)
    add("a", next: "b", team: "t1", to: world)
    _ = try await world.engine.sync()
    world.remote.delete("teams", "t1")
    _ = try await world.engine.sync()
    add("b", next: "a", to: world)
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == [])
    world.addTeams(1...1)
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == ["a", "b"])
  }

  @Test func ofUpdatesIsShownBesideTheNewRecordsThatItNeeds() async throws {
    let world = try await world(page: 1)
    add("a", next: nil, to: world)
    _ = try await world.engine.sync()
    add("b", next: "c", to: world)
    add("a", next: "b", to: world)
    add("c", next: "a", team: "t1", to: world)
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == ["a"])
    world.addTeams(1...1)
    _ = try await world.engine.sync()
    #expect(world.isEqual("nodes"))
    #expect(try await withheld(world).isEmpty)
  }

  @Test func isShownWhenAnUpgradeUnderstandsItsLastRecord() async throws {
    let declared = { (version: Int) in
      Entity(
        "nodes", schemaVersion: version, schemaVersionField: "schema", references: [.to("nodes", by: "next")])
    }
    let world = try await World([declared(1)])
    world.remote.upsert("nodes", "a", #"{"id":"a","next":"b"}"#)
    world.remote.upsert("nodes", "b", #"{"id":"b","next":"a","schema":2}"#)
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == [])
    let upgraded = try await World([declared(2)], remote: world.remote, store: world.store)
    #expect(try await upgraded.engine.sync()["nodes"].replayed == 2)
    #expect(upgraded.keys("nodes") == ["a", "b"])
  }

  @Test func needsCopiesThatTheAppUnderstands() async throws {
    let declared = { (version: Int) in
      Entity(
        "nodes", schemaVersion: version, schemaVersionField: "schema", references: [.to("nodes", by: "next")])
    }
    // The newer of two versions that share the store has parked a copy of its own schema.
    let newer = try await World([declared(2)])
    newer.remote.upsert("nodes", "b", #"{"id":"b","next":"a","schema":2}"#)
    _ = try await newer.engine.sync()
    newer.remote.delete("nodes", "b")
    let older = try await World([declared(1)], remote: newer.remote, store: newer.store)
    older.remote.upsert("nodes", "a", #"{"id":"a","next":"b"}"#)
    _ = try await older.engine.sync()
    #expect(older.keys("nodes") == [])
  }

  @Test func isShownWithTheWholeType() async throws {
    let whole = Entity("nodes", references: [.to("nodes", by: "next")], visibility: .wholeEntity)
    let world = try await World([whole], options: SyncOptions(pageSize: 1))
    add("a", next: "b", to: world)
    add("b", next: "a", to: world)
    #expect(try await world.engine.sync()["nodes"].inserted == 2)
    #expect(world.keys("nodes") == ["a", "b"])
  }

  @Test func isShownWhenTheAppMakesWhatItWaitsFor() async throws {
    let world = try await world()
    add("a", next: "b", team: "mine", to: world)
    add("b", next: "a", to: world)
    _ = try await world.engine.sync()
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "teams", key: "mine")) { $0["name"] = Array(#""Mine""#.utf8)[...] }
    }
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == ["a", "b"])
  }

  @Test func isNotShownAroundWhatTheAppHasDeleted() async throws {
    let world = try await world()
    add("a", next: nil, to: world)
    _ = try await world.engine.sync()
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.delete(RecordID(type: "nodes", key: "a"))
    }
    add("a", next: "b", to: world)
    add("b", next: "a", to: world)
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == [])
  }

  @Test(arguments: [1, -1]) func ofManyPagesIsShownAtOnce(step: Int) async throws {
    let world = try await world(page: 50)
    let count = 1_000
    for number in 0..<count {
      add("n\(10_000 + number)", next: "n\(10_000 + (number + step + count) % count)", to: world)
    }
    #expect(try await world.engine.sync()["nodes"].inserted == count)
    #expect(world.isEqual("nodes"))
  }

  // MARK: Deleted ones

  private func close(_ world: World) async throws {
    add("a", next: nil, to: world)
    add("b", next: "a", to: world)
    add("c", next: "b", to: world)
    _ = try await world.engine.sync()
    add("a", next: "c", to: world)
    _ = try await world.engine.sync()
    #expect(world.isEqual("nodes") && world.keys("nodes").count == 3)
  }

  @Test(arguments: [1, 400]) func goesWhole(page: Int) async throws {
    let world = try await world(page: page)
    try await close(world)
    for key in ["a", "b", "c"] { world.remote.delete("nodes", key) }
    let counts = try await world.engine.sync()["nodes"]
    #expect(world.keys("nodes") == [])
    #expect(counts.deleted == 3 && counts.deferred == 0 && counts.outcomes == counts.fetched)
    #expect(try await withheld(world).isEmpty)
  }

  @Test func goesWholeWhereAListingLacksIt() async throws {
    let world = try await world(.fullOnly)
    try await close(world)
    for key in ["a", "b", "c"] { world.remote.delete("nodes", key) }
    add("d", next: nil, to: world)
    let counts = try await world.engine.sync()["nodes"]
    #expect(world.keys("nodes") == ["d"])
    #expect(counts.swept == 3 && counts.outcomes - counts.swept == counts.fetched)
  }

  @Test func staysWhileAnythingElseRefersToIt() async throws {
    let pets = Entity("pets", references: [.to("nodes", by: "owner")])
    let world = try await World([World.teams, Self.nodes, pets])
    try await close(world)
    add("d", next: "b", to: world)
    world.remote.upsert("pets", "p", #"{"id":"p","owner":"c"}"#)
    _ = try await world.engine.sync()
    for key in ["a", "b", "c"] { world.remote.delete("nodes", key) }
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == ["a", "b", "c", "d"])
    add("d", next: nil, to: world)
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == ["a", "b", "c", "d"])
    world.remote.delete("pets", "p")
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == ["d"])
    #expect(try await withheld(world).isEmpty)
  }

  @Test func goesWithWhatItHeld() async throws {
    let world = try await world()
    try await close(world)
    add("root", next: nil, to: world)
    add("d", next: "root", to: world)
    add("b", next: "a", team: nil, to: world)
    add("a", next: "d", to: world)
    add("d", next: "c", to: world)
    _ = try await world.engine.sync()
    #expect(world.isEqual("nodes"))
    for key in ["a", "b", "c", "d", "root"] { world.remote.delete("nodes", key) }
    _ = try await world.engine.sync()
    #expect(world.keys("nodes") == [])
    #expect(try await withheld(world).isEmpty)
  }

  @Test func ofManyPagesGoesAtOnce() async throws {
    let world = try await world()
    let count = 1_000
    for number in 0..<count {
      add("n\(10_000 + number)", next: "n\(10_000 + (number + 1) % count)", to: world)
    }
    _ = try await world.engine.sync()
    #expect(world.keys("nodes").count == count)
    for number in 0..<count { world.remote.delete("nodes", "n\(10_000 + number)") }
    #expect(try await world.engine.sync()["nodes"].deleted == count)
    #expect(world.keys("nodes") == [])
  }

  @Test func staysAroundARecordWithAPendingEdit() async throws {
    let world = try await world()
    try await close(world)
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "nodes", key: "b")) { $0["note"] = Array(#""mine""#.utf8)[...] }
    }
    for key in ["a", "b", "c"] { world.remote.delete("nodes", key) }
    _ = try await world.engine.sync()
    // The policy decides on `b`, and its references stay.
    let shown = Set(world.keys("nodes"))
    #expect(shown.isEmpty || shown == ["a", "b", "c"])
  }

  /// A record of the circle is edited, and its policy accepts the deletion.
  @Test func ofDeletionsGoesWhereOneOfItsRecordsIsEdited() async throws {
    let world = try await PushWorld([PushWorld.folders], edits: EditOptions(policy: ServerWins()))
    world.remote.upsert("folders", "a", #"{"parent":"b"}"#)
    world.remote.upsert("folders", "b", #"{"parent":"a"}"#)
    _ = try await world.engine.sync()
    try await world.write("folders", "a")
    for key in ["a", "b"] { world.remote.delete("folders", key) }
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.here("folders").isEmpty)
    #expect(try await world.outbox("folders").isEmpty)
    #expect(try await world.engine.edits.conflicts().map(\.id.key) == ["a"])
  }
}
