import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Of two engines on one store,", .timeLimit(.minutes(10)))
struct LeaseTests {
  /// Two engines with their own clocks, as in two processes, and the store's lease clock.
  struct Pair {
    let first = ManualClock()
    let second = ManualClock()
    let leases = ManualClock()
    let remote: InMemoryRemote
    let store: InMemoryStore
    let engines: (first: SyncEngine, second: SyncEngine)

    init() async throws {
      let (first, second, leases) = (first, second, leases)
      let remote = InMemoryRemote(clock: leases)
      let store = InMemoryStore(leaseClock: { leases.timestamp })
      let schema = try SyncSchema(Entity("teams"))
      for number in 1...8 { remote.upsert("teams", "t\(number)", "{}") }
      func engine(_ clock: ManualClock) async throws -> SyncEngine {
        try await SyncEngine(
          schema: schema, store: store, source: remote, clock: clock,
          options: SyncOptions(pageSize: 2, pagesAhead: 0, leaseDuration: .seconds(15)),
          random: RepeatedNumber())
      }
      (self.remote, self.store) = (remote, store)
      engines = (try await engine(first), try await engine(second))
    }

    var count: Int { store.records(of: "teams").count }
  }

  private func code(_ error: any Error) -> SyncError.Code? { (error as? SyncError)?.code }

  @Test func theSecondIsRefusedAndLeavesNoTrace() async throws {
    let pair = try await Pair()
    pair.remote.behave(.hang, on: 1)
    let sync = Task { try await pair.engines.first.sync() }
    await pair.remote.waitUntilRequestHangs()
    await #expect {
      try await pair.engines.second.sync()
    } throws: {
      code($0) == .syncAlreadyInProgress
    }
    #expect(pair.remote.counters().requests == 1)
    pair.remote.releaseHanging()
    #expect(try await sync.value.total.inserted == 8)
    #expect(pair.second.sleepers == 0)
  }

  // R1.12
  @Test func theSecondWaitsForTheFirstIfItJoins() async throws {
    let pair = try await Pair()
    pair.remote.behave(.hang, on: 1)
    let sync = Task { try await pair.engines.first.sync() }
    await pair.remote.waitUntilRequestHangs()
    let second = Task { try await pair.engines.second.sync(SyncRequest(ifBusy: .join)) }
    for _ in 1...3 {
      while await pair.second.nextSleep() != .seconds(1) {}
      pair.second.advance(by: .seconds(1))
    }
    while await pair.second.nextSleep() != .seconds(1) {}
    pair.remote.releaseHanging()
    #expect(try await sync.value.total.inserted == 8)
    pair.second.advance(by: .seconds(1))
    #expect(try await second.value.total.fetched == 0)
    #expect(pair.count == 8)
    #expect(pair.second.sleepers == 0)
  }

  @Test func theSecondWaitsNoLongerThanItHasPatience() async throws {
    let pair = try await Pair()
    let lease = try await pair.store.acquireLease(for: .seconds(3600))
    let second = Task {
      try await pair.engines.second.sync(SyncRequest(ifBusy: .join, patience: .seconds(2.5)))
    }
    for pause in [1.0, 1, 0.5] {
      while await pair.second.nextSleep() != .seconds(pause) {}
      pair.second.advance(by: .seconds(pause))
    }
    await #expect {
      try await second.value
    } throws: {
      code($0) == .syncAlreadyInProgress
    }
    try await pair.store.release(lease)
  }

  @Test func theSecondStopsWaitingWhenItIsToStop() async throws {
    let pair = try await Pair()
    let lease = try await pair.store.acquireLease(for: .seconds(3600))
    let stop = CancellationSource()
    let second = Task { try await pair.engines.second.sync(SyncRequest(ifBusy: .join), token: stop) }
    while await pair.second.nextSleep() != .seconds(1) {}
    stop.cancel()
    #expect(try await second.value.wasCancelled)
    #expect(pair.remote.counters().requests == 0)
    #expect(pair.second.sleepers == 0)
    try await pair.store.release(lease)
  }

  @Test func oneThatSleptPastItsLeaseCommitsNothingMore() async throws {
    let pair = try await Pair()
    pair.remote.behave(.hang, on: 2)
    let sync = Task { try await pair.engines.first.sync() }
    await pair.remote.waitUntilRequestHangs()
    #expect(pair.count == 2)
    pair.leases.advance(by: .seconds(16))
    #expect(try await pair.engines.second.sync().total.inserted == 6)
    pair.remote.delete("teams", "t8")
    _ = try await pair.engines.second.sync()
    pair.remote.upsert("teams", "t3", #"{"new":true}"#)
    pair.remote.releaseHanging()
    await #expect {
      try await sync.value
    } throws: {
      code($0) == .leaseLost
    }
    // The page held the current t3. The second engine has not fetched it yet.
    let third = pair.store.records(of: "teams").first { $0.id.key == "t3" }
    #expect(third?.payload == Payload(Array("{}".utf8)))
    #expect(pair.count == 7)
  }

  @Test func oneThatFindsItsLeaseTakenOverDoesNotWaitForItsRequest() async throws {
    let pair = try await Pair()
    pair.remote.behave(.hang, on: 1)
    let sync = Task { try await pair.engines.first.sync() }
    await pair.remote.waitUntilRequestHangs()
    pair.leases.advance(by: .seconds(16))
    _ = try await pair.engines.second.sync()
    while await pair.first.nextSleep() != .seconds(5) {}
    pair.first.advance(by: .seconds(5))
    await #expect {
      try await sync.value
    } throws: {
      code($0) == .leaseLost
    }
    #expect(pair.remote.hangingRequests == 0)
    #expect(pair.first.sleepers == 0)
  }

  @Test func theFirstKeepsItsLeaseAliveDuringALongRequest() async throws {
    let pair = try await Pair()
    pair.remote.behave(.hang, on: 1)
    let sync = Task { try await pair.engines.first.sync() }
    await pair.remote.waitUntilRequestHangs()
    for _ in 1...6 {
      while await pair.first.nextSleep() != .seconds(5) {}
      pair.leases.advance(by: .seconds(5))
      pair.first.advance(by: .seconds(5))
    }
    // Once it sleeps again, the last renewal is complete.
    while await pair.first.nextSleep() != .seconds(5) {}
    await #expect {
      try await pair.engines.second.sync()
    } throws: {
      code($0) == .syncAlreadyInProgress
    }
    pair.remote.releaseHanging()
    #expect(try await sync.value.total.inserted == 8)
  }

  @Test(arguments: [SyncError.Code.authentication, .remoteUnavailable, .storeFailure])
  func theSecondNeedNotWaitForOneThatFailed(_ failure: SyncError.Code) async throws {
    let pair = try await Pair()
    let options = SyncOptions(retry: RetryPolicy(attempts: 1))
    let engine = try await SyncEngine(
      schema: pair.engines.first.schema, store: pair.store, source: pair.remote, clock: pair.first,
      options: options)
    pair.remote.behave(.fail(SyncError(failure, during: "fetching")), on: 1)
    await #expect { try await engine.sync() } throws: { code($0) == failure }
    #expect(try await pair.engines.second.sync().total.inserted == 8)
  }

  @Test func aBusyStoreAtARenewalIsTriedAgain() async throws {
    let pair = try await Pair()
    let schema = pair.engines.first.schema
    let store = FaultyStore(pair.store, failingRenewal: 1)
    let engine = try await SyncEngine(
      schema: schema, store: store, source: pair.remote, clock: pair.first,
      options: SyncOptions(leaseDuration: .seconds(15)))
    pair.remote.behave(.hang, on: 1)
    let sync = Task { try await engine.sync() }
    await pair.remote.waitUntilRequestHangs()
    for _ in 1...2 {
      while await pair.first.nextSleep() != .seconds(5) {}
      pair.first.advance(by: .seconds(5))
    }
    pair.remote.releaseHanging()
    #expect(try await sync.value.total.inserted == 8)
  }
}
