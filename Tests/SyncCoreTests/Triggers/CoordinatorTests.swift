import CanonicalSync
import InMemoryAdapters
import Synchronization
import Testing

@Suite("A coordinator", .timeLimit(.minutes(10)))
struct CoordinatorTests {
  @Test func syncOncePerIntervalWhateverStartedTheLastOne() async throws {
    let world = try await CoordinatorWorld(options: .init(every: .seconds(30)))
    await world.play([.init(100, .request)], until: 170)
    #expect(world.runs == [0, 30, 60, 90, 100, 130, 160])
    #expect(world.isQuiet)
  }

  @Test func makesOneMoreRunOfAllThatComesDuringARun() async throws {
    let world = try await CoordinatorWorld(latency: .seconds(10))
    await world.play(
      [
        .init(0, .request), .init(1, .request), .init(2, .push), .init(3, .request), .init(4, .launch),
        .init(5, .push),
      ], until: 100)
    // Two types of one page each, ten seconds a page.
    #expect(world.runs == [0, 20])
    #expect(world.reasons == [[.request], [.request, .pushSignal]])
  }

  /// The closure would be the push work if the observer were not the only closure of its initializer.
  @Test func takesATrailingClosureForItsObserver() async throws {
    let world = try await CoordinatorWorld()
    let ended = Mutex(0)
    let coordinator = SyncCoordinator(engine: world.engine) { event in
      if case .finished = event { ended.withLock { $0 += 1 } }
    }
    #expect(coordinator.status.state == .stopped && ended.withLock { $0 } == 0)
  }

  @Test func decidesOnWhatCameBeforeItRan() async throws {
    let world = try await CoordinatorWorld()
    world.signal(.launch)
    world.signal(.request)
    world.signal(.request)
    #expect(world.decisions.isEmpty)
    #expect(world.coordinator.status.state == .stopped)
    await world.play([], until: 1)
    #expect(world.reasons == [[.launch, .request]])
  }

  @Test func showsWhatItDoesAsItDoesIt() async throws {
    let world = try await CoordinatorWorld(latency: .seconds(10))
    let start = world.clock.timestamp
    await world.running {
      #expect(world.coordinator.status.state == .idle)
      #expect(world.coordinator.status.lastAttempt == nil)
      world.signal(.request)
      world.time.pass(until: .seconds(5))
      #expect(world.coordinator.status.state == .syncing([.request]))
      #expect(world.coordinator.status.lastAttempt == start)
      #expect(world.coordinator.status.lastSuccess == nil)
      world.time.pass(until: .seconds(30))
      #expect(world.coordinator.status.state == .idle)
      #expect(world.coordinator.status.lastSuccess == start + .seconds(20))
      #expect(world.coordinator.status.nextSync == nil)
    }
    #expect(world.coordinator.status.state == .stopped)
  }

  @Test func tellsEachChangeToEachFollower() async throws {
    let world = try await CoordinatorWorld(latency: .seconds(1))
    let states = Mutex<[SyncCoordinator.State]>([])
    let coordinator = world.coordinator
    let follower = Task(executorPreference: world.time) {
      for await status in coordinator.statuses() {
        states.withLock { if $0.last != status.state { $0.append(status.state) } }
      }
    }
    world.time.settle()
    await world.play([.init(1, .request)], until: 10)
    follower.cancel()
    world.time.settle()
    #expect(states.withLock { $0 } == [.stopped, .idle, .syncing([.request]), .idle, .stopped])
    #expect(world.isQuiet)
  }

  @Test func takesAMissingRemoteQuietlyAndTriesAgain() async throws {
    let world = try await CoordinatorWorld()
    let start = world.clock.timestamp
    await world.running {
      world.signal(.remoteFails(times: 2))
      world.signal(.request)
      world.time.settle()
      let status = world.coordinator.status
      #expect(status.lastProblem == .unavailable(.remoteUnavailable))
      #expect(status.consecutiveFailures == 1)
      #expect(
        status.nextSync
          == NextSync(at: start + .seconds(7.5), triggers: [.retry], waitsFor: .failures(1)))
      world.time.pass(until: .seconds(60))
      #expect(world.coordinator.status.lastProblem == nil)
      #expect(world.coordinator.status.consecutiveFailures == 0)
    }
    #expect(world.runs == [0, 7.5, 22.5])
  }

  @Test func saysWhenItTriesAgainAsSoonAsItHasFailed() async throws {
    let world = try await CoordinatorWorld()
    world.signal(.remoteFails(times: 1))
    try await world.running {
      world.signal(.request)
      world.time.settle()
      let next = try #require(world.coordinator.status.nextSync)
      guard case .finished(_, .unavailable)? = world.events.dropLast().last?.event,
        case .trigger(.retry, let decision)? = world.events.last?.event
      else {
        Issue.record("\(world.events)")
        return
      }
      #expect(decision == .planned(next))
      // A successful sync plans no retry, and reports none.
      world.time.pass(until: .seconds(60))
      guard case .finished(_, .completed)? = world.events.last?.event else {
        Issue.record("\(world.events)")
        return
      }
    }
  }

  @Test func leavesARemoteAloneForAsLongAsItAsks() async throws {
    let world = try await CoordinatorWorld()
    world.remote.behave(
      .fail(SyncError(.remoteUnavailable, during: "asking", retryAfter: .seconds(600))), onNext: 1)
    await world.play([.init(0, .request), .init(10, .request), .init(20, .push)], until: 1000)
    #expect(world.runs == [0, 600])
  }

  @Test func goesOnAtTheNextReturnWhenTheNetworkGoesDuringASync() async throws {
    let world = try await CoordinatorWorld(latency: .seconds(10))
    await world.play([.init(0, .request), .init(5, .offline), .init(30, .online)], until: 100)
    #expect(world.runs == [0, 32.5])
    #expect(world.coordinator.status.lastSuccess != nil)
    #expect(world.coordinator.status.consecutiveFailures == 0)
  }

  @Test func pushesBeforeItPulls() async throws {
    let pulls = Mutex<[Int]>([])
    let remote = Mutex<InMemoryRemote?>(nil)
    let world = try await CoordinatorWorld(
      push: { _ throws(SyncError) in
        pulls.withLock { $0.append(remote.withLock { $0?.counters().requests ?? -1 }) }
      })
    remote.withLock { $0 = world.remote }
    await world.play([.init(0, .request), .init(1, .request)], until: 10)
    #expect(pulls.withLock { $0 } == [0, 2])
  }

  @Test func doesNotPullWhenAPushFails() async throws {
    let world = try await CoordinatorWorld(
      push: { _ throws(SyncError) in throw SyncError(.authentication, during: "pushing") })
    await world.play([.init(0, .request)], until: 1)
    #expect(world.remote.counters().requests == 0)
    #expect(world.coordinator.status.lastProblem == .failed(.authentication))
  }

  @Test func stopsAtTheNextPageWhenItIsStoppedAndGoesOnFromThere() async throws {
    let options = SyncOptions(pageSize: 5, pagesAhead: 0)
    let world = try await CoordinatorWorld(latency: .seconds(1), engineOptions: options)
    for number in 1...50 { world.remote.upsert("teams", "t\(number)", #"{"id":"t\#(number)"}"#) }
    await world.play([.init(0, .request)], until: 4.5)
    #expect(world.store.records(of: "teams").count == 20)
    #expect(world.isQuiet)
    await world.play([.init(5, .request)], until: 60)
    #expect(world.store.records(of: "teams").count == 50)
    #expect(world.isQuiet)
  }

  @Test func isRunOnceAtATime() async throws {
    let world = try await CoordinatorWorld()
    await world.running {
      let coordinator = world.coordinator
      let isOver = Mutex(false)
      let second = Task(executorPreference: world.time) {
        await coordinator.run()
        isOver.withLock { $0 = true }
      }
      world.time.settle()
      #expect(isOver.withLock { $0 })
      _ = second
      world.signal(.request)
      world.time.settle()
      #expect(world.runs.count == 1)
    }
  }

  @Test func leavesNothingBehindAfterTenThousandRuns() async throws {
    let world = try await CoordinatorWorld(connectivity: .offline)
    for cycle in 0..<10_000 {
      await world.running {
        if cycle % 7 == 0 { world.signal(cycle % 2 == 0 ? .online : .offline) }
        if cycle % 5 == 0 { world.signal(.background) }
        if cycle % 1000 == 0 { world.signal(.request) }
        world.time.settle()
      }
    }
    #expect(world.isQuiet)
    #expect(world.scheduler.pending.count == 2)
  }
}
