import CanonicalSync
import InMemoryAdapters
import Synchronization
import Testing

@testable import SyncCore

/// A coordinator beside another user of the same engine, or of the same store.
@Suite("A coordinator that is not alone", .timeLimit(.minutes(10)))
struct CoordinatorFlightTests {
  // R2.4, R2.9
  @Test(arguments: [CoordinatorWorld.Signal.request, .push, .ifStale(.seconds(0.25))])
  func syncsOnceMoreAfterASyncThatTheAppHasStarted(_ signal: CoordinatorWorld.Signal) async throws {
    let world = try await CoordinatorWorld(latency: .seconds(2))
    world.remote.upsert("teams", "t", #"{"id":"t","v":1}"#)
    let engine = world.engine
    await world.running {
      let other = Task(executorPreference: world.time) { try await engine.sync().isBalanced }
      // The teams have been listed when one changes.
      world.time.pass(until: .seconds(2.5))
      world.remote.upsert("teams", "t", #"{"id":"t","v":2}"#)
      world.signal(signal)
      world.signal(signal)
      world.time.pass(until: .seconds(3.9))
      guard case .syncing = world.coordinator.status.state else {
        Issue.record("\(world.coordinator.status)")
        return
      }
      world.time.pass(until: .seconds(30))
      #expect(world.coordinator.status.lastProblem == nil)
      #expect(world.coordinator.status.lastSuccess != nil)
      _ = other
    }
    #expect(
      world.store.records(of: "teams").map { String(decoding: $0.payload.bytes, as: UTF8.self) }
        == [#"{"id":"t","v":2}"#])
    // A page of each type, twice.
    #expect(world.remote.counters().requests == 4)
    #expect(world.isQuiet)
  }

  // R2.9
  @Test func pullsAfterAPushThatTheAppHasStarted() async throws {
    let world = try await CoordinatorWorld(pushes: true)
    let engine = world.engine
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "teams", key: "mine")) { $0["name"] = Array("1".utf8)[...] }
    }
    world.remote.behave(.hang, onNextPushes: 1)
    await world.running {
      let push = Task(executorPreference: world.time) { try await engine.push().pushed.accepted }
      world.time.settle()
      world.remote.upsert("teams", "theirs", #"{"id":"theirs"}"#)
      world.signal(.push)
      world.time.pass(until: .seconds(2))
      world.remote.releaseHanging()
      world.time.pass(until: .seconds(3))
      _ = push
    }
    #expect(world.store.records(of: "teams").map(\.id.key).sorted() == ["mine", "theirs"])
    #expect(world.isQuiet)
  }

  @Test func goesOnByItselfWhenTheSyncThatItJoinedIsStopped() async throws {
    let options = SyncOptions(pageSize: 5, pagesAhead: 0)
    let world = try await CoordinatorWorld(latency: .seconds(1), engineOptions: options)
    for number in 1...50 { world.remote.upsert("teams", "t\(number)", #"{"id":"t\#(number)"}"#) }
    let engine = world.engine
    await world.running {
      let other = Task(executorPreference: world.time) { try await engine.sync().wasCancelled }
      world.time.pass(until: .seconds(2.5))
      world.signal(.request)
      world.time.settle()
      other.cancel()
      world.time.pass(until: .seconds(60))
      #expect(world.coordinator.status.lastProblem == nil)
    }
    #expect(world.store.records(of: "teams").count == 50)
    #expect(world.isQuiet)
  }

  @Test func leavesTheSyncThatItJoinedToItsOwnerWhenItIsStopped() async throws {
    let options = SyncOptions(pageSize: 5, pagesAhead: 0)
    let world = try await CoordinatorWorld(latency: .seconds(1), engineOptions: options)
    for number in 1...50 { world.remote.upsert("teams", "t\(number)", #"{"id":"t\#(number)"}"#) }
    let engine = world.engine
    let wasCancelled = Mutex<Bool?>(nil)
    let other = Task(executorPreference: world.time) {
      let result = try await engine.sync()
      wasCancelled.withLock { $0 = result.wasCancelled }
    }
    world.time.pass(until: .seconds(2.5))
    await world.play([.init(3, .request)], until: 4)
    #expect(wasCancelled.withLock { $0 } == nil)
    world.time.pass(until: .seconds(60))
    #expect(wasCancelled.withLock { $0 } == false)
    #expect(world.store.records(of: "teams").count == 50)
    _ = other
  }

  @Test func takesTheLeaseOfAnotherProcessQuietlyAndTriesAgain() async throws {
    let clock = ManualClock()
    let store = InMemoryStore(leaseClock: { clock.timestamp })
    let lease = try await store.acquireLease(for: .seconds(3600))
    let world = try await CoordinatorWorld(clock: clock, store: store)
    await world.running {
      world.signal(.request)
      world.time.settle()
      #expect(world.coordinator.status.lastProblem == .unavailable(.syncAlreadyInProgress))
      #expect(world.coordinator.status.nextSync?.triggers == [.retry])
    }
    try await store.release(lease)
    await world.play([], until: 60)
    #expect(world.coordinator.status.lastProblem == nil)
    #expect(world.coordinator.status.lastSuccess != nil)
  }

  /// An observer's signals come after all earlier events.
  @Test func tellsWhatHappenedInItsOrderWhateverItsObserverDoes() async throws {
    let told = Mutex<[SyncTrigger]>([])
    let box = Mutex<SyncCoordinator?>(nil)
    let world = try await CoordinatorWorld(
      observe: { event in
        guard case .trigger(let trigger, _) = event else { return }
        told.withLock { $0.append(trigger) }
        if trigger == .connectivityRestored { box.withLock { $0 }?.pushSignal() }
      })
    box.withLock { $0 = world.coordinator }
    await world.running {
      world.signal(.offline)
      world.time.settle()
      world.signal(.online)
      world.time.settle()
      // The task resumes after the second request, so two events happen at once.
      world.clock.advance(by: .seconds(3))
      world.signal(.request)
      world.time.settle()
    }
    box.withLock { $0 = nil }
    #expect(told.withLock { $0 } == [.connectivityRestored, .request, .pushSignal])
  }
}
