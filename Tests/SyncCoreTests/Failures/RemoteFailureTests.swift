import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("When the remote fails", .timeLimit(.minutes(10)))
struct RemoteFailureTests {
  private func code(_ error: any Error) -> SyncError.Code? { (error as? SyncError)?.code }

  private func busy(_ retryAfter: Duration? = nil) -> SyncError {
    SyncError(.remoteUnavailable, during: "fetching", retryAfter: retryAfter)
  }

  @Test func nothingIsAskedForWithoutANetwork() async throws {
    let network = ManualConnectivity(.offline)
    let world = try await World(connectivity: network)
    world.addTeams(1...3)
    await #expect {
      try await world.engine.sync()
    } throws: {
      code($0) == .offline
    }
    #expect(world.remote.counters().requests == 0)
    network.connectivity = .unknown
    #expect(try await world.engine.sync().total.inserted == 3)
  }

  @Test func nothingMoreIsAskedForOnceTheNetworkIsGone() async throws {
    let network = ManualConnectivity(.online)
    let world = try await World(
      options: SyncOptions(pageSize: 2, pagesAhead: 0), connectivity: network)
    world.addTeams(1...6)
    world.remote.onRequest = { request in
      if case .resume = request.position { network.connectivity = .offline }
    }
    await #expect {
      try await world.engine.sync()
    } throws: {
      code($0) == .offline
    }
    #expect(world.remote.counters().requests == 2)
    #expect(world.keys("teams").count == 4)
    network.connectivity = .online
    world.remote.onRequest = nil
    #expect(try await world.engine.sync()["teams"].fetched == 2)
  }

  // R5.3
  @Test func theStatusOfATypeWhosePassWasCompletedShowsNoFailure() async throws {
    let world = try await World(options: SyncOptions(retry: RetryPolicy(attempts: 1)))
    world.addTeams(1...3)
    world.addGame("g1", home: "t1", away: "t2")
    world.remote.onRequest = { [remote = world.remote] request in
      if request.entity.type == "teams" { remote.behave(.fail(busy()), on: 2) }
    }
    await #expect {
      try await world.engine.sync()
    } throws: {
      code($0) == .remoteUnavailable
    }
    #expect(world.keys("teams").count == 3)
    let status = try await world.engine.status()
    #expect(status.map(\.type) == ["teams", "games"])
    #expect(status.map { $0.passes.lastError?.code } == [nil, "remoteUnavailable"])
    #expect(status.map { $0.passes.consecutiveFailures } == [0, 1])
    #expect(status[0].passes.lastSuccess != nil)
  }

  // R5.3
  @Test func theStatusOfATypeWithoutEditsShowsNoFailureOfAPushAlone() async throws {
    let world = try await PushWorld(options: SyncOptions(retry: RetryPolicy(attempts: 1)))
    _ = try await world.engine.sync()
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "meters", key: "m")) { _ in }
    }
    world.remote.behave(.fail(busy()), onNextPushes: 1)
    await #expect {
      try await world.engine.push()
    } throws: {
      code($0) == .remoteUnavailable
    }
    let failed = try await world.engine.status().filter { $0.passes.lastError != nil }.map(\.type)
    #expect(failed == ["meters"])
  }

  @Test func itIsNotAskedAgainBeforeTheTimeItNames() async throws {
    let world = try await World()
    world.addTeams(1...3)
    world.remote.behave(.fail(busy(.seconds(20))), on: 1)
    let sync = Task { try await world.engine.sync() }
    while await world.clock.nextSleep() != .seconds(20) {}
    world.clock.advance(by: .seconds(19))
    #expect(world.remote.counters().requests == 1)
    world.clock.advance(by: .seconds(1))
    let result = try await sync.value
    #expect(result["teams"].inserted == 3)
    #expect(result["teams"].requests == 2)
    let retries = world.recorder.events.compactMap {
      if case .retrying(_, let attempt, let pause, _) = $0 { (attempt, pause) } else { nil }
    }
    #expect(retries.count == 1)
    #expect(retries.first?.0 == 2)
    #expect(retries.first?.1 == .seconds(20))
  }

  @Test func aTimePastTheCapEndsTheSyncAndIsRemembered() async throws {
    let world = try await World()
    world.addTeams(1...3)
    world.remote.behave(.fail(busy(.seconds(60))), on: 1)
    let start = world.clock.timestamp
    await #expect {
      try await world.engine.sync()
    } throws: {
      code($0) == .remoteUnavailable && ($0 as? SyncError)?.retryAfter == .seconds(60)
    }
    #expect(world.remote.counters().requests == 1)
    let report = try #require(try await world.engine.status().first)
    #expect(report.nextRetry == start + .seconds(60))
    #expect(report.passes.lastError?.code == "remoteUnavailable")
  }

  @Test func theBudgetOfAttemptsIsUsedUpAndNoMore() async throws {
    let world = try await World(options: SyncOptions(retry: RetryPolicy(attempts: 3)))
    world.addTeams(1...3)
    world.remote.behave(.fail(busy()), on: 1...10, of: "teams")
    await #expect {
      try await world.engine.sync()
    } throws: {
      code($0) == .remoteUnavailable
    }
    #expect(world.remote.counters(for: "teams").requests == 3)
    // The jitter here makes every pause zero.
    #expect(world.clock.sleepers == 0)
  }

  @Test func failuresAreCountedUntilAPassIsComplete() async throws {
    let world = try await World(options: SyncOptions(retry: RetryPolicy(attempts: 1)))
    world.addTeams(1...3)
    world.remote.behave(.fail(busy()), on: 1...3, of: "teams")
    for attempt in 1...3 {
      await #expect(throws: SyncError.self) { try await world.engine.sync() }
      let report = try #require(try await world.engine.status().first)
      #expect(report.passes.consecutiveFailures == attempt)
      #expect(report.passes.lastSuccess == nil)
    }
    _ = try await world.engine.sync()
    let report = try #require(try await world.engine.status().first)
    #expect(report.passes.consecutiveFailures == 0)
    #expect(report.passes.lastError == nil)
    #expect(report.passes.lastSuccess == world.clock.timestamp)
    #expect(report.nextRetry == nil)
  }

  @Test(arguments: [SyncError.Code.quotaExceeded, .permissionDenied, .inconsistentData])
  func theOtherTypesGoOnIfItRefusesOne(_ refusal: SyncError.Code) async throws {
    let world = try await World([World.teams, Entity("venues"), World.games])
    world.addTeams(1...3)
    world.remote.upsert("venues", "v1", "{}")
    world.addGame("g1", home: "t1", away: "t2")
    world.remote.behave(.fail(SyncError(refusal, during: "fetching")), on: 1, of: "teams")
    let result = try await world.engine.sync()
    #expect(result.failures.map(\.type) == ["teams"])
    #expect(result.failures.map(\.error.code) == [refusal])
    #expect(result["venues"].inserted == 1)
    #expect(result["games"].deferred == 1)
    #expect(result.isBalanced)
    let reports = try await world.engine.status()
    #expect(reports.first { $0.type == "teams" }?.passes.lastError?.code == refusal.description)
    #expect(reports.first { $0.type == "venues" }?.passes.lastError == nil)
    #expect(try await world.engine.sync()["games"].replayed == 1)
  }

  @Test func aListingThatGoesRoundInCirclesIsAnErrorOfItsType() async throws {
    let world = try await World(options: SyncOptions(pageSize: 2))
    world.addTeams(1...6)
    world.remote.behave(.stuckToken, on: 2...20, of: "teams")
    let result = try await world.engine.sync()
    #expect(result.failures.map(\.error.code) == [.inconsistentData])
    #expect(world.remote.counters(for: "teams").requests < 6)
    world.remote.behaveWell()
    #expect(try await world.engine.sync().failures.isEmpty)
    #expect(world.isEqual("teams"))
  }

  @Test func aRemoteThatStartsOverForEverIsGivenUp() async throws {
    let world = try await World(options: SyncOptions(pageSize: 2))
    world.addTeams(1...6)
    let remote = world.remote
    remote.onRequest = { request in
      if case .resume = request.position { remote.expireTokens() }
    }
    let result = try await world.engine.sync()
    #expect(result.failures.map(\.error.code) == [.inconsistentData])
    remote.onRequest = nil
    #expect(try await world.engine.sync().failures.isEmpty)
    #expect(world.isEqual("teams"))
  }

  @Test(arguments: [SyncError.Code.authentication, .remoteUnavailable])
  func theFailureComesLastAndIsNoFinish(_ failure: SyncError.Code) async throws {
    let world = try await World(options: SyncOptions(retry: RetryPolicy(attempts: 1)))
    world.addTeams(1...3)
    world.remote.behave(.fail(SyncError(failure, during: "fetching")), on: 1)
    await #expect(throws: SyncError.self) { try await world.engine.sync() }
    guard case .failed(let error, _)? = world.recorder.events.last else {
      Issue.record("the last event is no failure")
      return
    }
    #expect(error.code == failure)
  }
}
