import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A sweep", .timeLimit(.minutes(10)))
struct SweepTests {
  static let nodes = Entity("nodes", references: [.to("nodes", by: "parent")])

  func addNode(_ world: World, _ key: String, parent: String?) {
    let parent = parent.map { #""\#($0)""# } ?? "null"
    world.remote.upsert("nodes", key, #"{"id":"\#(key)","parent":\#(parent)}"#)
  }

  @Test func sparesARecordThatWasListedBeforeTheOneItRefersTo() async throws {
    let world = try await World([Self.nodes], configuration: .fullOnly)
    addNode(world, "a", parent: "z")
    addNode(world, "z", parent: nil)
    let result = try await world.engine.sync()
    #expect(result["nodes"].inserted == 2)
    #expect(result["nodes"].swept == 0)
    #expect(world.isEqual("nodes"))
  }

  @Test func releasesALongChainThatComesInTheWrongOrder() async throws {
    let world = try await World([Self.nodes], options: SyncOptions(pageSize: 5000))
    let count = 3000
    for number in 0..<count {
      addNode(world, "n\(number)", parent: number + 1 < count ? "n\(number + 1)" : nil)
    }
    let result = try await world.engine.sync()
    #expect(result["nodes"].inserted == count)
    #expect(result["nodes"].deferred == 0)
  }

  @Test func removesAChainThatRefersToItself() async throws {
    let world = try await World([Self.nodes], configuration: .fullOnly)
    addNode(world, "root", parent: nil)
    addNode(world, "a", parent: "root")
    addNode(world, "b", parent: "a")
    addNode(world, "c", parent: "b")
    _ = try await world.engine.sync()
    for key in ["a", "b", "c"] { world.remote.delete("nodes", key) }
    let result = try await world.engine.sync()
    #expect(result["nodes"].swept == 3)
    #expect(world.keys("nodes") == ["root"])
  }

  @Test func removesOnlyWhatTheRemoteWasAskedAbout() async throws {
    var configuration = InMemoryRemote.Configuration.publicDatabase()
    configuration.supportsLookup = true
    let options = SyncOptions(pageSize: 2000, deletionCheckInterval: .zero)
    let world = try await World(configuration: configuration, options: options)
    world.addTeams(1...1000)
    _ = try await world.engine.sync()
    for number in 1...300 { world.remote.delete("teams", "t\(number)") }
    world.clock.advance(by: .seconds(60))
    // The listing misses half of the type, as one of a moving collection may.
    world.remote.behave(.laggingReplica(changes: 1300), onNext: 1, of: "teams")
    _ = try await world.engine.sync(SyncRequest(allowsMassDeletion: true))
    #expect(world.isEqual("teams"))
  }

  @Test func needsTwoListingsOfAMovingCollection() async throws {
    let options = SyncOptions(deletionCheckInterval: .zero)
    let world = try await World(configuration: .publicDatabase(), options: options)
    world.addTeams(1...5)
    _ = try await world.engine.sync()
    world.remote.delete("teams", "t3")
    let first = try await world.engine.sync()
    #expect(first["teams"].swept == 0)
    #expect(try await world.engine.status()[0].withheld[.missing] == 1)
    let second = try await world.engine.sync()
    #expect(second["teams"].swept == 1)
    #expect(world.isEqual("teams"))
  }

  @Test func learnsDeletionsOfARemoteThatHasTokensAndNoTombstones() async throws {
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.sendsTombstones = false
    let options = SyncOptions(deletionCheckInterval: .seconds(100))
    let world = try await World(configuration: configuration, options: options)
    world.addTeams(1...5)
    _ = try await world.engine.sync()
    world.remote.delete("teams", "t3")
    world.clock.advance(by: .seconds(50))
    _ = try await world.engine.sync()
    #expect(world.keys("teams").count == 5)
    world.clock.advance(by: .seconds(50))
    _ = try await world.engine.sync()
    #expect(world.isEqual("teams"))
  }

  @Test func waitsWhenNewBytesMayBeWhatSeemsToBeGone() async throws {
    let world = try await World(configuration: .fullOnly)
    world.remote.putMalformed("teams", nil, Array("{old".utf8))
    world.addTeams(1...5)
    let first = try await world.engine.sync()
    #expect(first["teams"].quarantined == 1)
    // Earlier unreadable bytes have not removed any record since.
    world.remote.delete("teams", "t1")
    world.clock.advance(by: .seconds(1))
    #expect(try await world.engine.sync()["teams"].swept == 1)
    world.remote.delete("teams", "t2")
    world.remote.putMalformed("teams", nil, Array("{new".utf8))
    world.clock.advance(by: .seconds(1))
    let refused = try await world.engine.sync()
    #expect(refused["teams"].swept == 0)
    #expect(refused.refusedSweeps.first?.refusal == .unidentifiedMalformed(1))
    let allowed = try await world.engine.sync(SyncRequest(allowsMassDeletion: true))
    #expect(allowed["teams"].swept == 1)
  }

  @Test func countsWhatIsWithheldAmongWhatWouldGo() async throws {
    let world = try await World(configuration: .fullOnly)
    for number in 1...150 { world.addGame("g\(number)", home: "nobody", away: "nobody") }
    #expect(try await world.engine.sync()["games"].deferred == 150)
    for number in 1...150 { world.remote.delete("games", "g\(number)") }
    #expect(try await world.engine.sync().refusedSweeps.count == 1)
    #expect(try await world.engine.status()[1].withheld[.parked] == 150)
    _ = try await world.engine.sync(SyncRequest(allowsMassDeletion: true))
    #expect(try await world.engine.status()[1].withheld[.parked, default: 0] == 0)
  }
}
