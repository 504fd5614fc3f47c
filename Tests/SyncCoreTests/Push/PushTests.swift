import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A push", .timeLimit(.minutes(10)))
struct PushTests {
  @Test func bringsAnEditToTheRemoteAndItsEchoChangesNothing() async throws {
    let world = try await PushWorld()
    _ = try await world.engine.sync()
    try await world.write("meters", "m1")
    let result = try await world.engine.sync()
    #expect(result.pushed.accepted == 1)
    #expect(result.pushed.requests == 1)
    #expect(result.pushed.pending == 0)
    #expect(world.there() == ["m1": #"{"name":1}"#])
    #expect(world.here() == world.there())
    #expect(result["meters"].fetched == 1)
    #expect(result["meters"].unchanged == 1)
    #expect(!result.isEmpty)
    let second = try await world.engine.sync()
    #expect(second.isEmpty)
    #expect(second.total.fetched == 0)
    #expect(world.remote.pushEffects.count == 1)
  }

  @Test func sendsAnEditOfAnEditedRecordOnWhatTheLastOneLedTo() async throws {
    let world = try await PushWorld()
    for name in 1...3 {
      try await world.write("meters", "m1", ["name": "\(name)"])
      #expect(try await world.engine.push().pushed.accepted == 1)
    }
    #expect(world.there() == ["m1": #"{"name":3}"#])
    let effects = world.remote.pushEffects
    #expect(effects.map(\.base) == [nil, effects[0].version, effects[1].version])
  }

  /// A damaged store may hold any number.
  @Test func sendsAnEditWhoseAttemptsAreAtTheEndOfTheirRange() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    var entry = try await world.outbox()[0]
    entry.attempts = .max
    let worn = entry
    try await world.store.write(.app) { (transaction) throws(SyncError) in try transaction.queue([worn]) }
    #expect(try await world.engine.push().pushed.accepted == 1)
    #expect(world.there() == ["m1": #"{"name":1}"#])
  }

  @Test func sendsADeletionAsOne() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m1", "{}")
    _ = try await world.engine.sync()
    try await world.delete("meters", "m1")
    let result = try await world.engine.sync()
    #expect(result.pushed.accepted == 1)
    #expect(world.there().isEmpty)
    #expect(world.remote.pushEffects.map(\.isDeletion) == [true])
    #expect(try await world.engine.sync().isEmpty)
    #expect(world.here().isEmpty)
  }

  @Test func isNotMadeWhereOnlyAPullIsAskedFor() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    let result = try await world.engine.sync(SyncRequest(direction: .pull))
    #expect(result.pushed == PushCounts())
    #expect(world.remote.pushCounters.requests == 0)
    #expect(world.here() == ["m1": #"{"name":1}"#])
    #expect(try await world.outbox().count == 1)
  }

  @Test func pullsNothingWhereOnlyItIsAskedFor() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m2", "{}")
    try await world.write("meters", "m1")
    try await world.write("folders", "f1")
    let result = try await world.engine.push("meters")
    #expect(result.pushed.accepted == 1)
    #expect(world.remote.counters().requests == 0)
    #expect(world.there("folders").isEmpty)
    #expect(world.here().keys.sorted() == ["m1"])
    #expect(try await world.engine.sync().pushed.accepted == 1)
    #expect(world.here().keys.sorted() == ["m1", "m2"])
  }

  @Test func needsASinkOfTheSameRemote() async throws {
    let world = try await PushWorld()
    let schema = world.engine.schema
    let deaf = try await SyncEngine(schema: schema, store: world.store, source: world.remote)
    await #expect(throws: SyncError.self) { try await deaf.push() }
    try await world.write("meters", "m1")
    #expect(try await deaf.sync().pushed == PushCounts())
    #expect(try await world.outbox().count == 1)
    await #expect {
      _ = try await SyncEngine(
        schema: schema, store: world.store, source: world.remote, sink: InMemoryRemote(identity: "other"))
    } throws: {
      PushWorld.isCode(.invalidConfiguration)($0)
    }
    let scanned = InMemoryRemote(configuration: .fullOnly)
    await #expect {
      _ = try await SyncEngine(schema: schema, store: world.store, source: scanned, sink: scanned)
    } throws: {
      PushWorld.isCode(.invalidConfiguration)($0)
    }
  }

  @Test func stampsWhatItLedToWithTheRemotesLife() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m0", "{}")
    _ = try await world.engine.sync()
    world.remote.wipe("meters")
    world.remote.upsert("meters", "m0", "{}")
    _ = try await world.engine.sync()
    try await world.write("meters", "m1")
    _ = try await world.engine.push()
    let state = try await world.store.read { (snapshot) throws(SyncError) in
      try snapshot.state(of: RecordID(type: "meters", key: "m1"))
    }
    #expect(state?.version.epoch == 1)
    let echo = try await world.engine.sync()
    #expect(echo.total.unchanged == 1)
    #expect(echo.total.isEmpty)
  }

  @Test func reachesARemoteThatWasWipedMeanwhile() async throws {
    let world = try await PushWorld()
    for key in ["m1", "m2", "m3"] { world.remote.upsert("meters", key, "{}") }
    _ = try await world.engine.sync()
    try await world.write("meters", "m1")
    try await world.delete("meters", "m2")
    world.remote.wipe("meters")
    _ = try await world.engine.sync(SyncRequest(allowsMassDeletion: true))
    #expect(world.there() == ["m1": #"{"name":1}"#])
    #expect(world.here() == world.there())
    #expect(try await world.outbox().isEmpty)
    #expect(try await world.engine.sync().isEmpty)
  }

  @Test func keepsARecordFromBeingSweptByAListingThatBeganBeforeIt() async throws {
    // One type, so that the first page belongs to its listing.
    let world = try await PushWorld([PushWorld.meters], options: SyncOptions(pageSize: 1, pagesAhead: 0))
    for key in ["m1", "m2", "m3"] { world.remote.upsert("meters", key, "{}") }
    let observer = PageGiver(.source, after: 1)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, sink: world.remote,
      clock: world.clock, options: SyncOptions(pageSize: 1, pagesAhead: 0), observers: [observer])
    #expect(try await engine.sync(token: observer.token).wasCancelled)
    try await world.write("meters", "m0")
    _ = try await world.engine.push()
    let result = try await world.engine.sync()
    #expect(result.total.swept == 0)
    #expect(world.here() == world.there())
    #expect(world.here().count == 4)
  }

  @Test func isToldOfAndCounted() async throws {
    let lines = Lines()
    let counters = MetricsObserver()
    let world = try await PushWorld()
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, sink: world.remote,
      clock: world.clock, observers: [LogObserver { lines.append($0) }, counters])
    world.remote.rule(.refused(reason: "no"), on: "meters", "m2")
    try await world.write("meters", "m1")
    try await world.write("meters", "m2")
    let result = try await engine.sync()
    #expect(lines.all.contains("push.finished accepted=1 refused=1 requests=1 pending=1"))
    #expect(lines.all.contains { $0.contains("meters/m2") && $0.contains("no") })
    let numbers = counters.metrics.prometheusText.split(separator: "\n")
    #expect(numbers.contains(#"canonicalsync_push_edits_total{outcome="accepted"} 1"#))
    #expect(numbers.contains(#"canonicalsync_push_edits_total{outcome="refused"} 1"#))
    #expect(result.description.hasSuffix("pushed: 1 accepted, 1 refused, 1 requests, 1 pending"))
    let pushAlone = try await engine.push().description
    #expect(pushAlone == "pushed: 1 pending", "no table of what was not pulled")
    #expect(SyncResult(wasCancelled: true).description == "nothing was done")
    let report = try #require(try await engine.status().first { $0.type == "meters" })
    #expect(report.pending == 1)
    #expect(report.refused == 1)
  }
}
