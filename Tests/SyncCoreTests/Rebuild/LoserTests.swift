import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("Losers of a rebuild")
struct LoserTests {
  private static let meters = Entity("meters", naturalKey: NaturalKey("mac"))
  private static let entities = [Self.meters, PushWorld.readings]

  /// Two copies of a meter, `a` and then `b`, here and at the remote.
  private func world(
    _ entities: [Entity] = Self.entities, configure: (inout InMemoryRemote.Configuration) -> Void = { _ in }
  ) async throws -> PushWorld {
    let world = try await PushWorld(entities, configure: configure)
    for key in ["a", "b"] {
      world.clock.advance(by: .seconds(1))
      world.remote.upsert("meters", key, #"{"mac":"1","\#(key)":1}"#)
    }
    return world
  }

  @Test func takeTheWinnersPlaceWhereItHasGone() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.remote.delete("meters", "b")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.here().keys.sorted() == ["a"])
    #expect(world.there().keys.sorted() == ["a"])
    #expect(try await world.outbox().isEmpty)
  }

  /// Only an edit here made the loser a duplicate: the remote's copy has another key.
  @Test(arguments: [#"{"a":1}"#, #"{"mac":"2","a":1}"#])
  func takeTheWinnersPlaceAlsoWhereAnEditMadeThemDuplicates(_ copy: String) async throws {
    let world = try await PushWorld(Self.entities)
    world.remote.upsert("meters", "a", copy)
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "b", #"{"mac":"1"}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "a", ["mac": #""1""#])
    world.clock.advance(by: .seconds(1))
    try await world.write("meters", "b", ["b": "2"])
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.here().keys.sorted() == ["b"])
    world.clock.advance(by: .seconds(1))
    world.remote.delete("meters", "b")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["a"])
    #expect(world.here() == world.there())
  }

  @Test func electAnewAmongThemselvesWhereTheWinnerHasGone() async throws {
    let world = try await world()
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "c", #"{"mac":"1","c":1}"#)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.remote.delete("meters", "c")
    for _ in 0..<3 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["b"])
    #expect(world.here() == world.there())
  }

  private enum Fate: CaseIterable { case draft, refusal, neither }

  /// What the app has kept back, or the remote has refused, goes neither unheard nor unsent.
  @Test(arguments: Fate.allCases, [LastWriteWins() as any MergePolicy, FieldwiseLastWriteWins()])
  private func giveTheirEditsToTheirWinners(_ fate: Fate, _ policy: any MergePolicy) async throws {
    let world = try await PushWorld(Self.entities, edits: EditOptions(policy: policy))
    for key in ["a", "b"] { world.remote.upsert("meters", key, #"{"mac":"1","\#(key)":1}"#) }
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(1))
    try await world.write("meters", "a", ["note": #""mine""#])
    let id = RecordID(type: "meters", key: "a")
    if fate == .draft { try await world.engine.edits.hold(id) }
    if fate == .refusal {
      world.remote.rule(.refused(reason: "no rights"), on: "meters", "a")
      _ = try await world.engine.push()
      world.remote.rule(nil, on: "meters", "a")
    }
    world.clock.advance(by: .seconds(1))
    try await world.write("meters", "b", ["b": "2"])
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    let conflict = try #require(try await world.engine.edits.conflicts().first)
    let local = conflict.local.content.payload.map { String(decoding: $0.bytes, as: UTF8.self) }
    #expect(local?.contains("mine") == true)
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["b"])
    #expect(world.there()["b"]?.contains("mine") == (policy is FieldwiseLastWriteWins))
    #expect(world.here() == world.there())
    #expect(try await world.outbox().isEmpty)
  }

  /// A winner has inherited an edit, and the remote deletes it before that is sent.
  @Test func passOnWhatTheyHaveInheritedWhereTheRemoteHasDeletedThem() async throws {
    let world = try await PushWorld(Self.entities, edits: EditOptions(policy: FieldwiseLastWriteWins()))
    for key in ["a", "b"] { world.remote.upsert("meters", key, #"{"mac":"1","\#(key)":1}"#) }
    world.remote.upsert("readings", "r", #"{"meter":"b"}"#)
    _ = try await world.engine.sync()
    try await world.write("meters", "a", ["note": #""mine""#])
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "b", #"{"mac":"1","b":2}"#)
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.here().keys.sorted() == ["b"] && world.here()["b"]?.contains("mine") == true)
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "c", #"{"mac":"1","c":1}"#)
    world.remote.delete("meters", "b")
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    for _ in 1...3 { _ = try await world.engine.sync() }
    #expect(world.there() == world.here() && world.there().keys.sorted() == ["c"])
    #expect(world.there()["c"]?.contains("mine") == true)
    #expect(world.there("readings") == ["r": #"{"meter":"c"}"#])
    #expect(try await world.outbox().isEmpty)
  }

  @Test func goWithAWinnerThatTheAppDeletes() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    try await world.delete("meters", "b")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there().isEmpty)
    #expect(world.here().isEmpty)
    #expect(try await world.outbox().isEmpty)
  }

  @Test func waitForTheUpdateOfTheWinner() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(
      of: "meters", version: 1, options: RebuildOptions(carriesOver: .everyField))
    world.remote.rule(.refused(reason: "no rights"), on: "meters", "b")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["a", "b"])
    let loser = try await world.engine.edits.waiting("meters").first { $0.entry.id.key == "a" }
    #expect(loser?.kind == .records)
    world.remote.rule(nil, on: "meters", "b")
    try await world.engine.edits.retry("meters")
    _ = try await world.engine.sync()
    #expect(world.there().keys.sorted() == ["b"])
    #expect(world.there()["b"]?.contains(#""a":1"#) ?? false)
  }

  /// The app deleted the only record with a natural key while other losers waited.
  @Test func waitForTheirWinnerAlsoUnderAKeyThatTheAppHasDeleted() async throws {
    let world = try await world()
    world.remote.upsert("meters", "single", #"{"mac":"2"}"#)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(
      of: "meters", version: 1, options: RebuildOptions(carriesOver: .everyField))
    world.remote.rule(.refused(reason: "no rights"), on: "meters", "a")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    try await world.delete("meters", "single")
    for key in ["c", "d"] {
      world.clock.advance(by: .seconds(1))
      world.remote.upsert("meters", key, #"{"mac":"2","\#(key)":1}"#)
    }
    world.remote.rule(.refused(reason: "no rights"), on: "meters", "d")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.here().keys.sorted() == ["b", "d"])
    #expect(world.there().keys.sorted() == ["a", "b", "c", "d"])
    world.remote.rule(nil, on: "meters", "d")
    try await world.engine.edits.retry("meters", ["d"])
    _ = try await world.engine.sync()
    #expect(world.there().keys.sorted() == ["a", "b", "d"])
    #expect(world.there()["d"]?.contains(#""c":1"#) ?? false)
  }

  @Test func waitForTheirWinnerAlsoWhereTheAppDeletesAnotherRecordWithItsKey() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(
      of: "meters", version: 1, options: RebuildOptions(carriesOver: .everyField))
    world.remote.rule(.refused(reason: "no rights"), on: "meters", "b")
    try await world.write("meters", "c", ["mac": #""1""#])
    try await world.delete("meters", "c")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["a", "b"])
  }

  @Test func goWithAWinnerThatTheAppGivesAnotherKey() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    try await world.write("meters", "b", ["mac": #""2""#])
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["b"])
    #expect(world.here() == world.there())
    #expect(try await world.outbox().isEmpty)
  }

  @Test func takeThePlaceOfAWinnerThatAnotherDeviceGivesAnotherKey() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.remote.upsert("meters", "b", #"{"mac":"2"}"#)
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["a", "b"])
    #expect(world.here() == world.there())
  }

  /// The winner loses to a third record while its own loser waits.
  @Test func waitForTheWinnerOfTheirWinner() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.remote.rule(.refused(reason: "no rights"), on: "meters", "a")
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "c", #"{"mac":"1"}"#)
    for _ in 0..<3 { _ = try await world.engine.sync() }
    #expect(world.here().keys.sorted() == ["c"])
    #expect(world.there().keys.sorted() == ["a", "c"])
    world.remote.rule(nil, on: "meters", "a")
    try await world.engine.edits.retry("meters")
    _ = try await world.engine.sync()
    #expect(world.there().keys.sorted() == ["c"])
    #expect(try await world.outbox().isEmpty)
  }

  /// A deletion without an answer is sent again before the pulls, and others after them.
  @Test func areNotPushedAgainToARemoteThatDeniedTheirType() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.remote.behave(.fail(SyncError(.remoteUnavailable, during: "pushing")), onNextPushes: 5)
    _ = try? await world.engine.sync()
    world.clock.advance(by: .seconds(7200))
    world.remote.behave(.fail(SyncError(.permissionDenied, during: "pushing")), onNextPushes: 1)
    let result = try await world.engine.sync()
    #expect(result.failures.map(\.error.code) == [.permissionDenied])
    #expect(result.pushed.requests == 1)
    _ = try await world.engine.sync()
    #expect(world.there().keys.sorted() == ["b"])
    #expect(try await world.outbox().isEmpty)
  }

  /// A loser's edit failed earlier in the same sync. It goes before the deletion, after a pause.
  @Test func keepThePauseOfTheEditThatGoesFirst() async throws {
    let world = try await PushWorld([Self.meters])
    world.remote.upsert("meters", "a", #"{"mac":"1"}"#)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    try await world.write("meters", "a", ["ours": "1"])
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "b", #"{"mac":"1"}"#)
    world.remote.behave(.fail(SyncError(.invalidResponse, during: "pushing")), onNextPushes: 10)
    let result = try await world.engine.sync()
    #expect(world.here().keys.sorted() == ["b"])
    #expect(result.pushed.requests == RetryPolicy().attempts)
    for _ in 0..<3 {
      world.clock.advance(by: .seconds(600))
      _ = try await world.engine.sync()
    }
    #expect(world.there().keys.sorted() == ["b"])
    #expect(try await world.outbox().isEmpty)
  }

  @Test func waitForWhatRefersToThemAtTheRemote() async throws {
    let world = try await world()
    world.remote.upsert("readings", "r", #"{"meter":"a"}"#)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.remote.rule(.refused(reason: "no rights"), on: "readings", "r")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there().keys.sorted() == ["a", "b"])
    let loser = try #require(try await world.engine.edits.waiting("meters").first)
    #expect(loser.reason.contains("readings/r"))
    world.remote.rule(nil, on: "readings", "r")
    try await world.engine.edits.retry("readings")
    _ = try await world.engine.sync()
    #expect(world.there().keys.sorted() == ["b"])
  }

  @Test func waitForAPullThatShowsTheWinner() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    _ = try await world.engine.push()
    #expect(world.there().keys.sorted() == ["a", "b"])
    _ = try await world.engine.sync()
    #expect(world.there().keys.sorted() == ["b"])
  }

  // MARK: What readers do not see

  private static let rooms = [
    Self.meters, Entity("rooms"),
    Entity("readings", references: [.to("meters", by: "meter"), .to("rooms", by: "room")]),
  ]

  @Test func waitUntilWhatIsParkedIsShownAndPointedElsewhere() async throws {
    let world = try await world(Self.rooms)
    world.remote.upsert("readings", "r", #"{"meter":"a","room":"1"}"#)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    _ = try await world.engine.sync()
    #expect(world.there().keys.sorted() == ["a", "b"])
    world.remote.upsert("rooms", "1", "{}")
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.here("readings") == ["r": #"{"meter":"b","room":"1"}"#])
    #expect(world.there("readings") == world.here("readings"))
    #expect(world.there().keys.sorted() == ["b"])
  }

  @Test func areFollowedByWhatArrivesLater() async throws {
    let world = try await world()
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    world.remote.upsert("readings", "r", #"{"meter":"a"}"#)
    let result = try await world.engine.sync(SyncRequest(direction: .pull))
    #expect(world.here("readings") == ["r": #"{"meter":"b"}"#])
    #expect(result["readings"].replayed == 1 && !result.isEmpty)
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there("readings") == ["r": #"{"meter":"b"}"#])
    #expect(world.here("readings") == world.there("readings"))
    #expect(world.there().keys.sorted() == ["b"])
  }

  /// The copy waits for a loser only. Its merge with the pending edit is one like any other.
  @Test func haveTheConflictsOfWhatRefersToThemTold() async throws {
    let edits = EditOptions(policy: FieldwiseLastWriteWins(), isSignificant: { $0.id.key == "r" })
    let world = try await PushWorld(Self.entities, edits: edits)
    for key in ["a", "b"] {
      world.clock.advance(by: .seconds(1))
      world.remote.upsert("meters", key, #"{"mac":"1"}"#)
    }
    world.remote.upsert("readings", "r", #"{"meter":"b"}"#)
    _ = try await world.engine.sync()
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    try await world.write("readings", "r", ["ours": "1"])
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("readings", "r", #"{"meter":"a","theirs":1}"#)
    let result = try await world.engine.sync(SyncRequest(direction: .pull))
    #expect(world.here("readings") == ["r": #"{"meter":"b","theirs":1,"ours":1}"#])
    #expect(try await world.engine.edits.conflicts().map(\.winner) == [.merged])
    #expect(result["readings"].conflicts == 1)
    let told = world.recorder.events.compactMap { event in
      if case .conflict(let conflict, let matters) = event { (conflict.id.key, matters) } else { nil }
    }
    #expect(told.map(\.0) == ["r"] && told.map(\.1) == [true])
    for _ in 0..<2 { _ = try await world.engine.sync() }
    #expect(world.there("readings") == world.here("readings"))
    #expect(world.there().keys.sorted() == ["b"])
  }

  @Test func haveHiddenReferrersShownAndPointedElsewhere() async throws {
    let world = try await world()
    world.remote.upsert("readings", "r", #"{"meter":"a","date":"2020-01-01"}"#)
    _ = try await world.engine.sync()
    try await world.engine.cleanUp(
      CleanupPolicy([.hide("readings", olderThan: .seconds(86400 * 365), by: .date("date"))]))
    #expect(world.here("readings").isEmpty)
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    _ = try await world.engine.sync()
    #expect(world.there("readings") == ["r": #"{"meter":"b","date":"2020-01-01"}"#])
    #expect(world.there().keys.sorted() == ["b"])
  }

  @Test func arePostponedWhereACopyOfANewerSchemaRefersToThem() async throws {
    let readings = Entity(
      "readings", schemaVersionField: "schema", references: [.to("meters", by: "meter")])
    let world = try await world([Self.meters, readings])
    world.remote.upsert("readings", "r", #"{"meter":"a","schema":2}"#)
    _ = try await world.engine.sync()
    let report = try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(report.counts.postponed == 1)
    #expect(world.here().keys.sorted() == ["a", "b"])
  }

  /// A new device with two duplicates from a bundle, after its first sync.
  ///
  /// - Parameter further: The members of the remote's copies that the bundle lacks.
  private func bundled(beside further: String = "") async throws -> PushWorld {
    let made = try await PushWorld(Self.entities)
    for key in ["a", "b"] { made.remote.upsert("meters", key, #"{"id":"\#(key)","mac":"1"\#(further)}"#) }
    _ = try await made.engine.sync()
    let checkpoint = try await made.store.read { (snapshot) throws(SyncError) in
      try snapshot.checkpoint(for: "meters")
    }
    let token = try #require(checkpoint?.committed?.rawValue)
    let records = #"{"id":"a","mac":"1"},{"id":"b","mac":"1"}"#
    let bundle = #"{"format":1,"types":{"meters":{"token":"\#(token)","records":[\#(records)]}}}"#
    let fresh = try await PushWorld(Self.entities, name: "b", beside: made)
    _ = try await Bootstrap(Array(bundle.utf8), layout: RecordLayout()).load(
      into: fresh.store, schema: fresh.engine.schema, source: fresh.remote, clock: fresh.clock)
    _ = try await fresh.engine.sync()
    return fresh
  }

  /// A bundled record has no version until the remote sends one, which may never happen.
  @Test func goAlsoWhereTheWinnerCameWithTheApp() async throws {
    let fresh = try await bundled()
    try await fresh.engine.rebuildDuplicates(of: "meters", version: 1)
    // Conflicts bring the versions that the bundle lacked, and each one repeats the election.
    for _ in 0..<6 { _ = try await fresh.engine.sync() }
    #expect(fresh.there().count == 1)
    #expect(try await fresh.outbox().isEmpty)
  }

  /// A remote may add a member of its own to what it serves, which a bundle lacks.
  @Test func goAtOnceWhereTheBundleLacksAMemberOfTheRemote() async throws {
    let fresh = try await bundled(beside: #","views":7"#)
    try await fresh.engine.rebuildDuplicates(of: "meters", version: 1)
    for _ in 0..<2 { _ = try await fresh.engine.sync() }
    #expect(fresh.there().count == 1)
    #expect(try await fresh.outbox().isEmpty)
    #expect(try await fresh.engine.edits.conflicts().isEmpty)
  }
}
