import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Duplicates that arrive after a rebuild")
struct ArrivalTests {
  @Test func collapseAtTheEndOfTheSyncThatBringsThem() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "1", at: 1)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.meter("b", mac: "1", at: 2)
    world.meter("c", mac: "2", at: 2)
    // It arrives after the meters, and refers to a loser.
    world.reading("r", meter: "a")
    _ = try await world.engine.sync()
    #expect(world.keys() == ["b", "c"])
    #expect(world.text("readings", "r") == #"{"id":"r","meter":"b"}"#)
    #expect(try await world.outbox() == ["+readings/r", "-meters/a"])
  }

  @Test func collapseAlsoWhereAPushBringsThemBack() async throws {
    let world = try await PushWorld(MeterWorld.entities, edits: EditOptions(policy: ServerWins()))
    for key in ["a", "b"] {
      world.clock.advance(by: .seconds(1))
      world.remote.upsert("meters", key, #"{"mac":"1"}"#)
    }
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.here().keys.sorted() == ["b"])
    // The loser is edited there before its deletion arrives, so it stays. The pull after the push
    // brings no change.
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "a", #"{"mac":"1","name":1}"#)
    _ = try await world.engine.sync()
    #expect(world.here().keys.sorted() == ["a"], "the last one written")
    _ = try await world.engine.sync()
    #expect(world.here() == world.there())
  }

  @Test func areTriedAgainWhereOneOfThemCouldNotBeJudged() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "1", at: 1)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    // One of the three is undetermined until its parent arrives.
    world.meter("a", mac: "2", at: 2, #","parent":"p""#)
    world.meter("b", mac: "1", at: 3)
    world.meter("c", mac: "1", at: 4)
    _ = try await world.engine.sync()
    #expect(world.keys() == ["a", "b", "c"])
    world.meter("p", mac: nil, at: 5)
    _ = try await world.engine.sync()
    #expect(world.keys() == ["a", "c", "p"])
    #expect(try await world.outbox() == ["-meters/b"])
  }

  @Test func areLeftAloneUnderTheNaturalKeyOfAnotherVersionOfTheApp() async throws {
    func version(_ field: FieldName, _ store: InMemoryStore?, _ remote: InMemoryRemote?) async throws -> World
    {
      let meters = Entity("meters", naturalKey: NaturalKey(field))
      return try await World([meters], remote: remote, store: store)
    }
    let old = try await version("mac", nil, nil)
    old.remote.upsert("meters", "a", #"{"id":"a","mac":"1","name":"x"}"#)
    _ = try await old.engine.sync()
    try await old.engine.rebuildDuplicates(of: "meters", version: 1)
    let new = try await version("name", old.store, old.remote)
    old.remote.upsert("meters", "b", #"{"id":"b","mac":"1","name":"y"}"#)
    old.remote.upsert("meters", "c", #"{"id":"c","mac":"2","name":"y"}"#)
    // The store finds b and c to be duplicates, and the old version takes a and b for such.
    for isDry in [false, true] {
      let error = await #expect(throws: SyncError.self) {
        try await old.engine.rebuildDuplicates(of: "meters", version: 2, dryRun: isDry)
      }
      #expect(error?.code == .declarationsReplaced)
    }
    let refused = await #expect(throws: SyncError.self) { try await old.engine.sync() }
    #expect(refused?.code == .declarationsReplaced)
    #expect(old.keys("meters") == ["a"])
    _ = try await new.engine.sync()
    try await new.engine.rebuildDuplicates(of: "meters", version: 2)
    #expect(old.keys("meters") == ["a", "b"], "duplicates by the new version's key")
    let again = try await version("mac", old.store, old.remote)
    _ = try await again.engine.sync()
    try await again.engine.rebuildDuplicates(of: "meters", version: 3)
    #expect(old.keys("meters") == ["a", "c"], "c is no duplicate by the old version's key")
  }

  @Test func areLeftToTheRebuildBeforeIt() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "1", at: 1)
    world.meter("b", mac: "1", at: 2)
    _ = try await world.engine.sync()
    _ = try await world.engine.sync()
    #expect(world.keys() == ["a", "b"])
    #expect(try await world.outbox() == [])
  }

  @Test func areLeftToANewerRebuildThatIsNotDone() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "1", at: 1)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.meter("a", mac: "1", at: 2, #","parent":"p""#)
    world.meter("b", mac: "1", at: 3)
    _ = try await world.engine.sync()
    #expect(try await world.engine.rebuildDuplicates(of: "meters", version: 2).counts.postponed == 1)
    world.meter("p", mac: nil, at: 4)
    _ = try await world.engine.sync()
    #expect(world.keys() == ["a", "b", "p"])
    #expect(try await world.engine.rebuildDuplicates(of: "meters", version: 2).counts.losers == 1)
    #expect(world.keys() == ["b", "p"])
  }

  // R4.1
  @Test func thatTheAppMakesItselfCollapseAtTheNextSync() async throws {
    let world = try await PushWorld(MeterWorld.entities)
    world.remote.upsert("meters", "a", #"{"mac":"1"}"#)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    try await world.write("meters", "b", ["mac": #""1""#])
    #expect(world.here().keys.sorted() == ["a", "b"], "until then")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.here().keys.sorted() == ["b"])
    #expect(world.there().keys.sorted() == ["b"])
  }

  @Test func countAsAChangeWhereTheRemoteSentNone() async throws {
    let world = try await MeterWorld()
    world.meter("a", mac: "1", at: 1)
    world.reading("r", meter: "a")
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.world.clock.advance(by: .seconds(60))
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "meters", key: "b")) { $0["mac"] = Array(#""1""#.utf8)[...] }
    }
    let result = try await world.engine.sync()
    #expect(world.keys() == ["b"])
    #expect(result.total.fetched == 0 && !result.isEmpty)
    #expect(result["meters"].replayed == 1 && result["readings"].replayed == 1)
    #expect(try await world.engine.sync().isEmpty)
  }

  @Test func haveKeysThatDifferByBytesAlone() async throws {
    let world = try await World([Entity("meters", naturalKey: NaturalKey("mac"))])
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    for (number, mac) in ["caf\u{e9}", "cafe\u{301}", "caf\u{e9}", "cafe\u{301}"].enumerated() {
      world.remote.upsert("meters", "m\(number)", #"{"mac":"\#(mac)"}"#)
    }
    _ = try await world.engine.sync()
    #expect(world.keys("meters").count == 2)
  }

  @Test func carryOverAsTheRebuildWasAskedTo() async throws {
    let world = try await MeterWorld()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(
      of: "meters", version: 1, options: RebuildOptions(carriesOver: .everyField))
    world.meter("a", mac: "1", at: 1, #","name":"A""#)
    world.meter("b", mac: "1", at: 2)
    _ = try await world.engine.sync()
    #expect(world.text("meters", "b") == #"{"id":"b","mac":"1","name":"A"}"#)
  }

  @Test func waitForTheNextSyncIfThisOneIsCutShort() async throws {
    let world = try await MeterWorld()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.meter("a", mac: "1", at: 1)
    world.meter("b", mac: "1", at: 2)
    let token = FlagToken()
    let remote = world.remote
    remote.onRequest = { if $0.entity.type == "readings" { token.isCancelled = true } }
    let first = try await world.engine.sync(token: token)
    #expect(first.wasCancelled)
    #expect(world.keys() == ["a", "b"])
    remote.onRequest = nil
    _ = try await world.engine.sync()
    #expect(world.keys() == ["b"])
  }

  @Test func ofAWholeListingCollapseAsWell() async throws {
    let world = try await MeterWorld()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(
      of: "meters", version: 1, options: RebuildOptions(recordsAtOnce: 3))
    for number in 1...30 { world.meter("m\(number)", mac: "\(number % 7)", at: Int64(number)) }
    _ = try await world.engine.resync()
    #expect(world.keys() == (24...30).map { "m\($0)" })
    #expect(try await world.outbox().count == 23)
  }
}
