import CanonicalSync
import CanonicalSyncTestExecutors
import InMemoryAdapters
import Testing

@Suite("A second sync of one engine", .timeLimit(.minutes(10)))
struct SingleFlightTests {
  static let joining = SyncRequest(ifBusy: .join)

  /// A world whose first sync hangs in its first request.
  private func withFirstSync(
    token: (any CancellationToken)? = nil,
    _ body: @Sendable (World, Task<SyncResult, any Error>) async throws -> Void
  ) async throws {
    try await OneThread.run {
      let world = try await World()
      world.addTeams(1...3)
      world.remote.behave(.hang, on: 1)
      let first = Task(executorPreference: OneThread.current) { try await world.engine.sync(token: token) }
      await world.remote.waitUntilRequestHangs()
      try await body(world, first)
      #expect(world.clock.sleepers == 0)
    }
  }

  /// Starts a second sync, and returns once it waits for the first.
  private func join(_ world: World) async -> Task<SyncResult, any Error> {
    let second = Task(executorPreference: OneThread.current) {
      try await world.engine.sync(Self.joining, token: FlagToken())
    }
    // On one thread, the wait begins before the first check of the token.
    while await world.clock.nextSleep() != .milliseconds(100) {}
    return second
  }

  @Test func isRefusedAtOnce() async throws {
    try await withFirstSync { world, first in
      await #expect {
        try await world.engine.sync()
      } throws: {
        ($0 as? SyncError)?.code == .syncAlreadyInProgress
      }
      world.remote.releaseHanging()
      let result = try await first.value
      #expect(result["teams"].inserted == 3)
    }
  }

  @Test func sharesTheResultIfItJoins() async throws {
    try await withFirstSync { world, first in
      let joiners = [await join(world), await join(world)]
      world.remote.releaseHanging()
      let result = try await first.value
      for joiner in joiners {
        let shared = try await joiner.value
        #expect(shared.total == result.total)
        #expect(shared["teams"].inserted == 3)
      }
      #expect(world.remote.counters(for: "teams").requests == 1)
    }
  }

  @Test func sharesTheFailureIfItJoins() async throws {
    try await withFirstSync { world, first in
      world.remote.behave(.fail(SyncError(.authentication, during: "fetching")), on: 2)
      let joiner = await join(world)
      world.remote.releaseHanging()
      for sync in [first, joiner] {
        await #expect {
          try await sync.value
        } throws: {
          ($0 as? SyncError)?.code == .authentication
        }
      }
    }
  }

  @Test(arguments: [Giver.source, .task])
  func goesOnInPlaceOfAFirstOneThatIsGivenUp(_ giver: Giver) async throws {
    let source = CancellationSource()
    try await withFirstSync(token: source) { world, first in
      let joiner = await join(world)
      if giver == .source { source.cancel() } else { first.cancel() }
      #expect(try await first.value.wasCancelled)
      let result = try await joiner.value
      #expect(!result.wasCancelled)
      #expect(result["teams"].inserted == 3)
      #expect(world.isEqual("teams"))
    }
  }

  @Test(arguments: [Giver.source, .task])
  func isGivenUpAloneAndAtOnce(_ giver: Giver) async throws {
    try await withFirstSync { world, first in
      let source = CancellationSource()
      let joiner = Task(executorPreference: OneThread.current) {
        try await world.engine.sync(Self.joining, token: source)
      }
      if giver == .source { source.cancel() } else { joiner.cancel() }
      #expect(try await joiner.value.wasCancelled)
      #expect(world.remote.hangingRequests == 1)
      world.remote.releaseHanging()
      let result = try await first.value
      #expect(result["teams"].inserted == 3)
    }
  }

  // R1.12
  @Test(arguments: [SyncRequest.Busy.join, .follow])
  func pullsAfterAPushThatItWaitedFor(_ busy: SyncRequest.Busy) async throws {
    let world = try await PushWorld()
    try await world.write("meters", "mine")
    world.remote.behave(.hang, onNextPushes: 1)
    try await OneThread.run {
      async let push = world.engine.push()
      await world.remote.waitUntilRequestHangs()
      world.remote.upsert("meters", "theirs", #"{"id":"theirs"}"#)
      async let joined = world.engine.sync(SyncRequest(ifBusy: busy))
      for _ in 0..<10 { await Task.yield() }
      world.remote.releaseHanging()
      let (pushed, pulled) = (try await push, try await joined)
      #expect(pushed.total.requests == 0)
      #expect(pulled["meters"].inserted == 1)
    }
    #expect(world.store.records(of: "meters").map(\.id.key).sorted() == ["mine", "theirs"])
  }

  // R1.12
  @Test func beginsAfterItWasAskedForIfItFollows() async throws {
    try await withFirstSync { world, first in
      let followers = (1...3).map { _ in
        Task(executorPreference: OneThread.current) {
          try await world.engine.sync(SyncRequest(ifBusy: .follow))
        }
      }
      for _ in 0..<10 { await Task.yield() }
      world.remote.releaseHanging()
      let result = try await first.value
      #expect(result["teams"].inserted == 3)
      for follower in followers {
        let followed = try await follower.value
        #expect(followed.total.fetched == 0)
      }
      // One sync for all waiting callers.
      #expect(world.remote.counters(for: "teams").requests == 2)
    }
  }

  @Test func mayFollowOneThatFailed() async throws {
    let world = try await World()
    world.addTeams(1...3)
    world.remote.behave(.fail(SyncError(.authentication, during: "fetching")), on: 1)
    await #expect(throws: SyncError.self) { try await world.engine.sync() }
    #expect(try await world.engine.sync()["teams"].inserted == 3)
  }
}
