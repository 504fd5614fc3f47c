import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("What is set aside", .timeLimit(.minutes(10)))
struct WithheldChangeTests {
  private func entries(_ world: World, _ type: RecordType) async throws -> [WithheldChange] {
    try await world.store.read { (snapshot) throws(SyncError) in
      try snapshot.withheld(type, kinds: Set(WithheldChange.Kind.allCases), after: nil, limit: 100)
    }
  }

  @Test func keepsBytesBesideAParkedCopyUntilAReadableOneComes() async throws {
    let world = try await World()
    world.addGame("g", home: "t1", away: "t1")
    _ = try await world.engine.sync()
    for bytes in ["{broken", "{still broken"] {
      world.remote.putMalformed("games", "g", Array(bytes.utf8))
      #expect(try await world.engine.sync()["games"].quarantined == 1)
      #expect(try await entries(world, "games").map(\.kind) == [.parked, .quarantined])
    }
    let explanation = try await world.engine.explain(RecordID(type: "games", key: "g"))
    #expect(explanation.withheld.map(\.kind).contains(.parked))
    world.addGame("g", home: "t1", away: "t1", date: "2026-05-01")
    #expect(try await world.engine.sync()["games"].deferred == 1)
    #expect(try await entries(world, "games").map(\.kind) == [.parked])
    world.addTeams(1...1)
    _ = try await world.engine.sync()
    #expect(world.isEqual("games"))
    #expect(try await entries(world, "games").isEmpty)
  }

  @Test func tellsSinceWhenACopyHasWaitedThatComesAgain() async throws {
    let world = try await World()
    world.addGame("g", home: "t1", away: "t1")
    _ = try await world.engine.sync()
    let since = try await entries(world, "games").map(\.since)
    for date in ["2026-05-01", "2026-06-01"] {
      world.clock.advance(by: .seconds(60))
      world.addGame("g", home: "t1", away: "t1", date: date)
      _ = try await world.engine.sync()
      #expect(try await entries(world, "games").map(\.since) == since)
    }
    #expect(since.count == 1)
  }

  @Test func keepsOnlyTheLatestBytesOfARecordThatChangesDuringAListing() async throws {
    let world = try await World(
      configuration: .timestampedCollection(), options: SyncOptions(pageSize: 1, pagesAhead: 0))
    world.remote.putMalformed("games", "g", Array("{1".utf8))
    world.remote.onRequest = { request in
      let number = world.remote.counters(for: "games").requests
      guard request.entity.type == "games", number < 4 else { return }
      world.clock.advance(by: .seconds(1))
      world.remote.putMalformed("games", "g", Array("{\(number + 1)".utf8))
    }
    _ = try await world.engine.sync()
    world.remote.onRequest = nil
    #expect(try await entries(world, "games").count == 1)
    world.clock.advance(by: .seconds(1))
    world.addGame("g", home: "t1", away: "t1")
    _ = try await world.engine.sync()
    #expect(try await entries(world, "games").map(\.kind) == [.parked])
  }

  @Test func keepsBytesBesideACopyThatIsShownMeanwhile() async throws {
    let world = try await World()
    world.addGame("g", home: "t1", away: "t1")
    _ = try await world.engine.sync()
    world.remote.putMalformed("games", "g", Array("{broken".utf8))
    _ = try await world.engine.sync()
    world.addTeams(1...1)
    _ = try await world.engine.sync()
    #expect(world.keys("games") == ["g"])
    #expect(try await entries(world, "games").map(\.kind) == [.quarantined])
    world.remote.delete("games", "g")
    _ = try await world.engine.sync()
    #expect(try await entries(world, "games").isEmpty)
  }

  @Test(arguments: [Entity.Visibility.perPage, .wholeEntity], [false, true])
  func keepsTheBytesOfTwoRecordsWithOneID(visibility: Entity.Visibility, areParked: Bool) async throws {
    let entity = Entity("games", references: [.to("teams", by: "home")], visibility: visibility)
    let listed = try ["one", "other"].map { (name) throws in
      let payload = Payload(Array(#"{"id":"g","home":\#(areParked ? #""t""# : "null"),"v":"\#(name)"}"#.utf8))
      return RecordChange.upsert(
        Record(
          id: RecordID(type: "games", key: "g"),
          version: Version(sequence: 1, modifiedAt: Timestamp(microseconds: 1)), payload: payload,
          fields: try entity.fields(of: payload)))
    }
    let store = InMemoryStore()
    let engine = try await SyncEngine(
      schema: SyncSchema(World.teams, entity), store: store, source: Listing(changes: listed),
      clock: ManualClock())
    let counts = try await engine.sync()["games"]
    #expect(counts.quarantined == 1 && counts.outcomes == counts.fetched)
    let kept = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.withheld("games", kinds: [.quarantined], after: nil, limit: 9).map(\.change)
    }
    let bytes = kept.compactMap { if case .malformed(let malformed) = $0 { malformed.bytes } else { nil } }
    #expect(bytes.map { String(decoding: $0.bytes, as: UTF8.self) }.first?.contains("one") == true)
  }

  /// A pass that was stopped between the two continues in the next sync.
  @Test func keepsTheBytesOfARivalThatAnEarlierSyncHasStaged() async throws {
    let entity = Entity("teams", visibility: .wholeEntity)
    let records = try ["one", "other"].map { (name) throws in
      let payload = Payload(Array(#"{"id":"t","v":"\#(name)"}"#.utf8))
      return RecordChange.upsert(
        Record(
          id: RecordID(type: "teams", key: "t"),
          version: Version(sequence: 1, modifiedAt: Timestamp(microseconds: 1)), payload: payload,
          fields: try entity.fields(of: payload)))
    }
    let store = InMemoryStore()
    let source = Listing(changes: records, isPaged: true)
    let cancellation = CancellationSource()
    let first = try await SyncEngine(
      schema: SyncSchema(entity), store: store, source: source, clock: ManualClock(),
      options: SyncOptions(pagesAhead: 0),
      observers: [AfterPages(1) { cancellation.cancel() }])
    let stopped = try await first.sync(token: cancellation)
    #expect(stopped.wasCancelled && stopped["teams"].deferred == 1)
    let second = try await SyncEngine(
      schema: SyncSchema(entity), store: store, source: source, clock: ManualClock())
    let counts = try await second.sync()["teams"]
    #expect(counts.inserted == 1 && counts.quarantined == 0 && counts.outcomes == counts.fetched)
    let kept = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.withheldCounts("teams")[.quarantined]
    }
    #expect(kept == 1)
  }

  @Test func isMarkedAsListedWhenAnUpgradeShowsIt() async throws {
    let declared = { (version: Int) in Entity("teams", schemaVersion: version, schemaVersionField: "schema") }
    let options = SyncOptions(massDeletionRecords: 1, massDeletionShare: 0)
    let world = try await World([declared(1)], configuration: .fullOnly, options: options)
    world.addTeams(1...4)
    _ = try await world.engine.sync()
    for number in 2...4 { world.remote.delete("teams", "t\(number)") }
    world.remote.upsert("teams", "new", #"{"id":"new","schema":2}"#)
    // The guard refuses to remove three of four.
    _ = try await world.engine.sync()
    #expect(world.keys("teams") == ["t1", "t2", "t3", "t4"])
    let upgraded = try await World([declared(2)], options: options, remote: world.remote, store: world.store)
    upgraded.remote.behave(.fail(SyncError(.permissionDenied, during: "fetching")), onNext: 9)
    _ = try await upgraded.engine.sync(SyncRequest(allowsMassDeletion: true))
    #expect(upgraded.keys("teams") == ["new", "t1"])
  }
}

/// A remote that lists the same changes each time, all of one instant.
private struct Listing: RemoteRecordSource {
  let identity = "listing"
  let capabilities = SourceCapabilities(deltas: .fullOnly, sendsTombstones: false, listing: .snapshot)
  var changes: [RecordChange]
  /// Whether each change has its own page.
  var isPaged = false

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let own = changes.filter { $0.id?.type == request.entity.type }
    guard isPaged else { return RecordPage(coverage: .full, changes: own, next: .done(nil)) }
    var place = 0
    if case .resume(let token) = request.position { place = token.rawValue.utf8.count }
    let isLast = place + 1 >= own.count
    return RecordPage(
      coverage: .full, changes: Array(own[place..<min(place + 1, own.count)]),
      next: isLast
        ? .done(nil) : .more(PageToken(String(repeating: "x", count: place + 1)), resumable: true))
  }
}
