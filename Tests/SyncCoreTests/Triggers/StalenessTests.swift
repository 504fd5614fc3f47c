import CanonicalSync
import InMemoryAdapters
import Testing

@testable import SyncCore

/// The signals of an app, and the resulting syncs.
struct AppStory: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var moments: [CoordinatorWorld.Moment]
  var end: Double
  var runs: [Double]

  init(
    _ description: String, _ moments: [(Double, CoordinatorWorld.Signal)], until end: Double = 3000,
    runs: [Double]
  ) {
    testDescription = description
    self.end = end
    self.moments = moments.map { CoordinatorWorld.Moment($0.0, $0.1) }
    self.runs = runs
  }

  static let all: [AppStory] = [
    AppStory("launched for the first time", [(1, .launch)], runs: [1]),
    AppStory("launched, and in the foreground at once", [(1, .launch), (1, .foreground)], runs: [1]),
    AppStory("in the foreground before the first sync", [(1, .foreground)], runs: []),
    AppStory("back too soon", [(1, .launch), (300, .foreground)], runs: [1]),
    AppStory("back late", [(1, .launch), (301, .foreground)], runs: [1, 301]),
    AppStory("launched again", [(1, .launch), (200, .launch), (302, .launch)], runs: [1, 302]),
    AppStory("asked by hand, however fresh", [(1, .launch), (2, .request), (3, .request)], runs: [1, 2, 3]),
    AppStory(
      "the gate counts from the last of them", [(1, .launch), (100, .request), (302, .launch)],
      runs: [1, 100]),
    AppStory(
      "an age of its own", [(1, .launch), (10, .ifStale(.seconds(10))), (11, .ifStale(.seconds(10)))],
      runs: [1, 11]),
    AppStory("offline", [(1, .offline), (2, .request), (3, .launch), (4, .push)], runs: []),
    AppStory(
      "asked while offline, then online", [(1, .offline), (2, .request), (3, .online)], runs: [5.5]),
    AppStory("unknown whether online", [(1, .unknown), (2, .request)], runs: [2]),
    AppStory(
      "asked while offline, then unknown", [(1, .offline), (2, .request), (3, .unknown)], runs: [3]),
    AppStory(
      "asked while offline, then unknown, then online",
      [(1, .offline), (2, .request), (3, .unknown), (4, .online)], runs: [3]),
    AppStory(
      "asked while offline, online, then unknown",
      [(1, .offline), (2, .request), (3, .online), (4, .unknown), (5, .online)], runs: [4]),
    AppStory(
      "a push signal dropped by the network, then unknown",
      [(1, .push), (1.5, .offline), (3, .unknown)], runs: [4]),
    AppStory(
      "in the foreground after a launch that found no network, then unknown",
      [(1, .offline), (2, .launch), (3, .foreground), (4, .unknown)], runs: [4]),
    AppStory(
      "a failed attempt counts as one", [(1, .remoteFails(times: 1)), (2, .launch), (5, .launch)],
      runs: [2, 9.5]),
    AppStory(
      "in the foreground while the first sync keeps failing",
      [(1, .remoteFails(times: 1)), (2, .launch), (5, .foreground)], runs: [2, 9.5]),
    AppStory("in the background", [(1, .background)], until: 7000, runs: [3601]),
    AppStory("one push signal", [(1, .push)], runs: [2]),
    AppStory("push signals together", [(1, .push), (1.2, .push), (1.9, .push)], runs: [2]),
    AppStory("push signals apart", [(1, .push), (5, .push)], runs: [2, 6]),
    AppStory("a request takes the push signals along", [(1, .push), (1.5, .request)], runs: [1.5]),
  ]
}

@Suite("What an app does", .timeLimit(.minutes(10)))
struct StalenessTableTests {
  @Test(arguments: AppStory.all)
  func startsASyncWhenItShould(_ story: AppStory) async throws {
    let world = try await CoordinatorWorld()
    await world.play(story.moments, until: story.end)
    #expect(world.runs == story.runs)
    #expect(world.isQuiet)
  }

  @Test func goesOnWithThePauseAfterAnEarlierProcessesFailure() async throws {
    let first = try await CoordinatorWorld()
    await first.play([.init(0, .remoteFails(times: 1)), .init(0, .launch)], until: 1)
    #expect(first.coordinator.status.consecutiveFailures == 1)
    let second = try await CoordinatorWorld(clock: first.clock, remote: first.remote, store: first.store)
    await second.play([.init(2, .launch)], until: 20)
    #expect(second.runs == [7.5])
    #expect(second.reasons == [[.retry]])
  }

  @Test(arguments: [(299.0, [0.0]), (300.0, [0.0, 300.0])])
  func isProofAgainstRestarts(_ launch: Double, _ runs: [Double]) async throws {
    let first = try await CoordinatorWorld()
    await first.play([.init(0, .launch)], until: 10)
    let second = try await CoordinatorWorld(clock: first.clock, remote: first.remote, store: first.store)
    await second.play([.init(launch, .launch)], until: 600)
    #expect(first.runs + second.runs == runs)
    #expect(second.coordinator.status.lastSuccess != nil)
  }

  @Test func countsASyncThatTheAppMadeItself() async throws {
    let first = try await CoordinatorWorld()
    _ = try await first.engine.sync()
    let second = try await CoordinatorWorld(clock: first.clock, remote: first.remote, store: first.store)
    await second.play([.init(100, .launch), .init(301, .foreground)], until: 600)
    #expect(second.runs == [301])
  }

  // R2.4
  @Test func countsASyncThatTheAppMakesMeanwhile() async throws {
    let world = try await CoordinatorWorld()
    let start = world.clock.timestamp
    let engine = world.engine
    await world.running {
      world.time.pass(until: .seconds(10))
      let own = Task(executorPreference: world.time) { try await engine.sync().isBalanced }
      world.time.settle()
      #expect(world.coordinator.status.lastAttempt == start + .seconds(10))
      #expect(world.coordinator.status.lastSuccess == start + .seconds(10))
      for second in [11.0, 309] {
        world.time.pass(until: .seconds(second))
        world.signal(.launch)
        world.signal(.foreground)
        world.signal(.ifStale(.seconds(300)))
      }
      #expect(world.runs.isEmpty)
      world.time.pass(until: .seconds(310))
      world.signal(.foreground)
      world.time.settle()
      #expect(world.runs == [310])
      _ = own
    }
  }

  @Test(arguments: [SyncRequest(types: ["teams"]), SyncRequest(direction: .push)])
  func doesNotCountWhatLeavesSomethingStale(_ request: SyncRequest) async throws {
    let world = try await CoordinatorWorld(pushes: true)
    _ = try await world.engine.sync(request)
    await world.play([.init(1, .launch)], until: 10)
    #expect(world.runs == [1])
    let engine = world.engine
    await world.running {
      world.time.pass(until: .seconds(400))
      let own = Task(executorPreference: world.time) { try await engine.sync(request).isBalanced }
      world.time.settle()
      world.signal(.foreground)
      world.time.settle()
      #expect(world.runs == [1, 400])
      _ = own
    }
  }

  @Test func forgetsTheRetryOnceTheAppHasSyncedByItself() async throws {
    let world = try await CoordinatorWorld()
    let engine = world.engine
    await world.running {
      world.signal(.remoteFails(times: 1))
      world.signal(.request)
      world.time.settle()
      #expect(world.coordinator.status.nextSync?.triggers == [.retry])
      let own = Task(executorPreference: world.time) { try await engine.sync().isBalanced }
      world.time.pass(until: .seconds(60))
      #expect(world.coordinator.status.consecutiveFailures == 0)
      #expect(world.coordinator.status.lastProblem == nil)
      #expect(world.runs == [0])
      _ = own
    }
  }
}
