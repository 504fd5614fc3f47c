import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A sync that is given up", .timeLimit(.minutes(10)))
struct CancellationTests {
  private static func key(_ number: Int) -> String { number < 10 ? "i0\(number)" : "i\(number)" }

  @Test(arguments: Giver.allCases, [0, 1, 2])
  func leavesAPrefixAtEveryPageAndTheRestIsFetchedOnce(_ giver: Giver, _ ahead: Int) async throws {
    for page in 1...9 {
      let options = SyncOptions(pageSize: 5, pagesAhead: ahead)
      let world = try await World([Entity("items")], options: options)
      for number in 0..<50 { world.remote.upsert("items", Self.key(number), #"{"n":\#(number)}"#) }
      let observer = PageGiver(giver, after: page)
      let engine = try await SyncEngine(
        schema: world.engine.schema, store: world.store, source: world.remote, clock: world.clock,
        options: options, observers: [observer])
      // A separate task, so that its cancellation does not affect the test's.
      let result = try await Task { try await engine.sync(token: observer.token) }.value
      #expect(result.wasCancelled)
      #expect(result.isBalanced)
      // A page in the same transaction is committed with it.
      let pages = result.total.pages
      #expect(page...max(page, page + ahead - 1) ~= pages)
      #expect(world.keys("items") == (0..<pages * 5).map(Self.key))
      let rest = try await world.engine.sync()
      #expect(rest.total.fetched == 50 - pages * 5)
      #expect(world.isEqual("items"))
      #expect(world.remote.counters().changes <= 50 + 5 * ahead)
      #expect(world.clock.sleepers == 0)
    }
  }

  @Test(arguments: [Giver.source, .task])
  func endsAtOnceWhileARequestHangs(_ giver: Giver) async throws {
    let world = try await World()
    world.addTeams(1...3)
    world.remote.behave(.hang, on: 1)
    let source = CancellationSource()
    let sync = Task { try await world.engine.sync(token: giver == .source ? source : nil) }
    await world.remote.waitUntilRequestHangs()
    if giver == .source { source.cancel() } else { sync.cancel() }
    let result = try await sync.value
    #expect(result.wasCancelled)
    #expect(world.remote.hangingRequests == 0)
    #expect(world.clock.sleepers == 0)
  }

  @Test(arguments: [Giver.source, .task])
  func endsAtOnceWhileItWaitsToTryAgain(_ giver: Giver) async throws {
    let world = try await World()
    world.addTeams(1...3)
    let busy = SyncError(.remoteUnavailable, during: "fetching", retryAfter: .seconds(20))
    world.remote.behave(.fail(busy), on: 1)
    let source = CancellationSource()
    let sync = Task { try await world.engine.sync(token: giver == .source ? source : nil) }
    while await world.clock.nextSleep() != .seconds(20) {}
    if giver == .source { source.cancel() } else { sync.cancel() }
    #expect(try await sync.value.wasCancelled)
    #expect(world.remote.counters().requests == 1)
    #expect(world.clock.sleepers == 0)
  }

  @Test func asksAPlainTokenTenTimesASecond() async throws {
    let world = try await World()
    world.addTeams(1...3)
    world.remote.behave(.hang, on: 1)
    let token = FlagToken()
    let sync = Task { try await world.engine.sync(token: token) }
    await world.remote.waitUntilRequestHangs()
    for _ in 1...3 {
      while await world.clock.nextSleep() != .milliseconds(100) {}
      world.clock.advance(by: .milliseconds(100))
    }
    while await world.clock.nextSleep() != .milliseconds(100) {}
    #expect(world.remote.hangingRequests == 1)
    token.isCancelled = true
    world.clock.advance(by: .milliseconds(100))
    #expect(try await sync.value.wasCancelled)
    #expect(world.clock.sleepers == 0)
  }

  @Test func bringsNothingIfItWasGivenUpBefore() async throws {
    let world = try await World()
    world.addTeams(1...3)
    let result = try await world.engine.sync(token: FlagToken(isCancelled: true))
    #expect(result.wasCancelled)
    #expect(world.keys("teams").isEmpty)
  }

  @Test func leavesItsSweepToTheNextOne() async throws {
    let world = try await World(configuration: .fullOnly)
    world.addTeams(1...10)
    _ = try await world.engine.sync()
    for number in 1...4 { world.remote.delete("teams", "t\(number)") }
    let observer = PageGiver(.source, after: 2)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, clock: world.clock,
      observers: [observer])
    #expect(try await engine.sync(token: observer.token).wasCancelled)
    #expect(world.keys("teams").count == 10)
    #expect(try await world.engine.sync()["teams"].swept == 4)
    #expect(world.isEqual("teams"))
  }

  @Test func hasNotFailed() async throws {
    let world = try await World()
    world.addTeams(1...3)
    _ = try await world.engine.sync(token: FlagToken(isCancelled: true))
    let report = try #require(try await world.engine.status().first)
    #expect(report.passes.lastError == nil)
    #expect(report.passes.consecutiveFailures == 0)
    let failures = world.recorder.events.filter { if case .failed = $0 { true } else { false } }
    #expect(failures.isEmpty)
  }
}
