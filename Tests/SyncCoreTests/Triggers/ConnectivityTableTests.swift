import CanonicalSync
import InMemoryAdapters
import Synchronization
import Testing

/// The states of the network, and the resulting syncs.
struct NetworkStory: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var first: Connectivity
  var moments: [CoordinatorWorld.Moment]
  var runs: [Double]

  init(
    _ description: String, first: Connectivity = .online,
    _ moments: [(Double, CoordinatorWorld.Signal)], runs: [Double]
  ) {
    testDescription = description
    self.first = first
    self.moments = moments.map { CoordinatorWorld.Moment($0.0, $0.1) }
    self.runs = runs
  }

  static let all: [NetworkStory] = [
    NetworkStory("there from the start", [], runs: []),
    NetworkStory("the first connected is no restoration", first: .unknown, [(1, .online)], runs: []),
    NetworkStory(
      "unknown, then away, then there", first: .unknown, [(1, .offline), (4, .online)], runs: [6.5]),
    NetworkStory("away at the start, then there", first: .offline, [(10, .online)], runs: [12.5]),
    NetworkStory("never there", first: .offline, [(1, .unknown)], runs: []),
    NetworkStory("lost and regained", [(5, .offline), (10, .online)], runs: [12.5]),
    NetworkStory("lost and not regained", [(5, .offline)], runs: []),
    NetworkStory("lost again within the time", [(5, .offline), (10, .online), (12.4, .offline)], runs: []),
    NetworkStory(
      "flapping", [(5, .offline), (6, .online), (7, .offline), (8, .online), (9, .offline), (10, .online)],
      runs: [12.5]),
    NetworkStory(
      "flapping, and away in the end",
      [(5, .offline), (6, .online), (7, .offline), (8, .online), (9, .offline)], runs: []),
    NetworkStory(
      "another interface while there", first: .unknown, [(1, .wifi), (5, .cellular), (9, .wifi)], runs: []),
    NetworkStory(
      "another interface while it settles", [(5, .offline), (10, .wifi), (11, .cellular), (12, .wifi)],
      runs: [12.5]),
    NetworkStory(
      "another interface after it settled", [(5, .offline), (10, .wifi), (20, .cellular)], runs: [12.5]),
    NetworkStory(
      "twice", [(5, .offline), (10, .online), (20, .offline), (30, .online)], runs: [12.5, 32.5]),
    NetworkStory("lost after the sync", [(5, .offline), (10, .online), (13, .offline)], runs: [12.5]),
    NetworkStory(
      "unknown on the way back", [(5, .offline), (6, .unknown), (8, .online), (9, .unknown)], runs: [10.5]),
    NetworkStory("unknown is no loss", [(5, .unknown), (6, .online)], runs: []),
    NetworkStory(
      "a request meanwhile goes at once, and the restoration follows",
      [(5, .offline), (10, .online), (11, .request)], runs: [11, 12.5]),
  ]
}

@Suite("The network's return", .timeLimit(.minutes(10)))
struct ConnectivityTableTests {
  @Test(arguments: NetworkStory.all)
  func startsOneSyncOnceItHasStayed(_ story: NetworkStory) async throws {
    let world = try await CoordinatorWorld(connectivity: story.first)
    await world.play(story.moments, until: 60)
    #expect(world.runs == story.runs)
    #expect(world.isQuiet)
  }

  @Test func isAnnouncedWhileItSettles() async throws {
    let world = try await CoordinatorWorld(connectivity: .offline)
    let start = world.clock.timestamp
    await world.running {
      #expect(!world.coordinator.status.isOnline)
      world.time.pass(until: .seconds(10))
      world.signal(.wifi)
      world.time.settle()
      let status = world.coordinator.status
      #expect(status.isOnline)
      #expect(status.network.interface == .wifi)
      #expect(
        status.nextSync
          == NextSync(
            at: start + .milliseconds(12500), triggers: [.connectivityRestored], waitsFor: .settling))
    }
  }

  @Test func ofAnEarlierRunIsNotRemembered() async throws {
    let world = try await CoordinatorWorld()
    await world.play([CoordinatorWorld.Moment(1, .offline)], until: 2)
    world.signal(.online)
    await world.play([], until: 60)
    #expect(world.runs.isEmpty)
  }

  // R2.3
  @Test func isSeenWhereItComesBeforeTheCoordinatorListens() async throws {
    let world = try await CoordinatorWorld(connectivity: .offline)
    world.signal(.online)
    await world.play([], until: 60)
    #expect(world.runs == [2.5])
  }

  // R2.3
  @Test func startsWhatWasPromisedBeforeTheCoordinatorListened() async throws {
    let box = Mutex<ManualConnectivity?>(nil)
    let world = try await CoordinatorWorld(
      connectivity: .offline,
      observe: { event in
        // The sync was just promised, and the monitor is not followed yet.
        if case .trigger(_, .ignored(.offline)) = event { box.withLock { $0?.connectivity = .online } }
      })
    box.withLock { $0 = world.connectivity }
    world.signal(.request)
    await world.play([], until: 60)
    box.withLock { $0 = nil }
    #expect(world.runs == [2.5])
  }

  @Test func beforeTheCoordinatorListensStartsNoSecondSync() async throws {
    let world = try await CoordinatorWorld(connectivity: .offline)
    world.signal(.launch)
    world.signal(.online)
    await world.play([], until: 60)
    #expect(world.runs == [0])
  }

  // R2.3
  @Test func startsOneSyncWhereALossAndAReturnAreSeenTogether() async throws {
    let world = try await CoordinatorWorld()
    await world.running {
      world.time.pass(until: .seconds(5))
      world.signal(.offline)
      world.time.pass(until: .seconds(10))
      world.signal(.online)
      world.time.settle()
      // The process is suspended from here on, until after the network's settle time.
      world.signal(.offline)
      world.signal(.online)
      world.clock.advance(by: .seconds(5))
      world.time.pass(until: .seconds(60))
    }
    #expect(world.runs == [17.5])
  }

  @Test func isSeenInTimeHoweverSlowTheObserverIs() async throws {
    let box = Mutex<CoordinatorWorld?>(nil)
    let world = try await CoordinatorWorld(
      observe: { event in
        guard case .network(NetworkStatus(.online)) = event, let world = box.withLock({ $0.take() }) else {
          return
        }
        world.clock.advance(by: .seconds(1))
        world.signal(.offline)
        world.signal(.online)
        world.clock.advance(by: .seconds(2))
      })
    await world.running {
      world.time.pass(until: .seconds(5))
      world.signal(.offline)
      world.time.pass(until: .seconds(10))
      box.withLock { $0 = world }
      world.signal(.online)
      world.time.pass(until: .seconds(60))
    }
    #expect(world.runs == [15.5])
  }

  // R2.7
  @Test func isTriedAgainWithoutAMonitor() async throws {
    let world = try await CoordinatorWorld(isWatched: false)
    world.remote.behave(.fail(SyncError(.offline, during: "asking")), onNext: 2)
    await world.play([.init(0, .request)], until: 60)
    #expect(world.runs == [0, 7.5, 22.5])
    #expect(world.coordinator.status.lastProblem == nil)
    #expect(world.coordinator.status.consecutiveFailures == 0)
  }
}
