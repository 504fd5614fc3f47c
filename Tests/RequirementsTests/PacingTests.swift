import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Stopping, starting, pacing", .timeLimit(.minutes(10)))
struct PacingTests {
  @Test("R2.1: a token and the task's cancellation stop a sync between pages", arguments: StoreKind.allCases)
  func stopsBetweenPages(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...60)
      let engine = try await setting.engine(
        [Setting.teams], options: SyncOptions(pageSize: 10, pagesAhead: 0))
      let token = FlagToken()
      setting.remote.onRequest = { request in
        if request.position != .start(since: nil) { token.isCancelled = true }
      }
      let byToken = try await engine.sync(token: token)
      #expect(byToken.wasCancelled)
      #expect(try await setting.keys("teams").count == byToken.total.inserted)
      setting.remote.onRequest = nil
      setting.remote.behave(.hang, onNext: 1)
      let task = Task { try await engine.sync() }
      await setting.remote.waitUntilRequestHangs()
      task.cancel()
      #expect(try await task.value.wasCancelled)
      #expect(try await setting.keys("teams").count % 10 == 0)
    }
  }

  @Test("R2.2: a type may be shown per page, or whole and across restarts", arguments: StoreKind.allCases)
  func showsWholeTypes(_ kind: StoreKind) async throws {
    for visibility in [Entity.Visibility.perPage, .wholeEntity] {
      try await withSetting(kind) { setting in
        setting.addTeams(1...30)
        let teams = Entity("teams", visibility: visibility)
        let options = SyncOptions(pageSize: 10, pagesAhead: 0)
        let token = FlagToken()
        setting.remote.onRequest = { request in
          if request.position != .start(since: nil) { token.isCancelled = true }
        }
        #expect(try await setting.engine([teams], options: options).sync(token: token).wasCancelled)
        setting.remote.onRequest = nil
        #expect(try await setting.keys("teams").count == (visibility == .perPage ? 10 : 0))
        _ = try await setting.engine([teams], options: options).sync()
        #expect(try await setting.keys("teams").count == 30)
      }
    }
  }

  @Test("R2.2: all changes of a whole type become visible at once", arguments: StoreKind.allCases)
  func publishesAndSweepsAtOnce(_ kind: StoreKind) async throws {
    try await withSetting(kind, .fullOnly) { setting in
      let teams = Entity("teams", visibility: .wholeEntity)
      setting.addTeams(1...60)
      let engine = try await setting.engine([teams])
      _ = try await engine.sync()
      setting.clock.advance(by: .seconds(60))
      for number in 1...20 { setting.remote.delete("teams", "t\(number)") }
      setting.addTeams(101...120)
      // Readers see the old state or the new one, whatever is committed.
      let store = setting.store
      let seen = Mutex<[Set<String>]>([])
      let observed = try await SyncEngine(
        schema: SyncSchema(teams),
        store: peeking(store) { keys in seen.withLock { $0.append(keys) } },
        source: setting.remote, clock: setting.clock)
      _ = try await observed.sync()
      let old = Set((1...60).map { "t\($0)" })
      let new = Set((21...60).map { "t\($0)" } + (101...120).map { "t\($0)" })
      #expect(seen.withLock { $0 }.allSatisfy { $0 == old || $0 == new })
      #expect(try await Set(setting.keys("teams")) == new)
    }
  }

  @Test(
    "R2.3: one sync follows the network's return, after it has been up for 2.5 s",
    arguments: StoreKind.allCases)
  func returnsOfTheNetworkSettle(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let network = ManualConnectivity(.online, interface: .wifi)
      let engine = try await setting.engine(connectivity: network)
      try await running(engine) { coordinator, heard in
        // The first status, and a change of interface, are not a return.
        network.status = NetworkStatus(.online, interface: .cellular)
        await heard.wait {
          if case .network(let status) = $0 { status.interface == .cellular } else { false }
        }
        #expect(coordinator.status.nextSync == nil)
        network.connectivity = .offline
        await heard.wait {
          if case .network(let status) = $0 { status.connectivity == .offline } else { false }
        }
        setting.addTeams(1...1)
        network.connectivity = .online
        await heard.wait { if case .network(NetworkStatus(.online)) = $0 { true } else { false } }
        #expect(await setting.clock.nextSleep() <= .milliseconds(2500))
        setting.clock.advance(by: .milliseconds(2499))
        #expect(!heard.hasStarted)
        setting.clock.advance(by: .milliseconds(1))
        await heard.wait { if case .finished = $0 { true } else { false } }
        #expect(heard.starts == 1)
      }
      #expect(try await setting.keys("teams") == ["t1"])
    }
  }

  @Test(
    "R2.4: staleness counts from the last attempt; the foreground waits for the first sync",
    arguments: StoreKind.allCases)
  func freshDataAreLeftAlone(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let engine = try await setting.engine()
      try await running(engine) { coordinator, heard in
        coordinator.foreground()
        await heard.wait {
          if case .trigger(.foreground, .ignored(.firstSyncIncomplete)) = $0 { true } else { false }
        }
        coordinator.launch()
        await heard.wait { if case .finished = $0 { true } else { false } }
        coordinator.foreground()
        await heard.wait { if case .trigger(.foreground, .ignored(.fresh)) = $0 { true } else { false } }
        #expect(coordinator.status.lastAttempt == setting.clock.timestamp)
        #expect(coordinator.isOnline)
        setting.clock.advance(by: .seconds(300))
        coordinator.foreground()
        await heard.wait(count: 2) { if case .finished = $0 { true } else { false } }
        coordinator.requestSync()
        await heard.wait(count: 3) { if case .finished = $0 { true } else { false } }
      }
    }
  }

  @Test(
    "R2.5: background work is requested again before it runs, and its expiration stops the sync",
    arguments: StoreKind.allCases)
  func backgroundWorkIsAskedForAgain(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let scheduler = InMemoryScheduler(clock: setting.clock)
      let engine = try await setting.engine()
      try await running(engine, scheduler) { coordinator, heard in
        coordinator.background()
        let pending = scheduler.pending
        #expect(pending[.refresh]?.request.earliest == .after(.seconds(3600)))
        #expect(pending[.processing]?.request.earliest == .next(TimeOfDay(hour: 2)))
        #expect(pending[.processing]?.request.needsNetwork == true)
        #expect(pending[.processing]?.request.needsExternalPower == true)
        #expect(pending[.refresh]?.request.needsExternalPower == false)
        setting.remote.behave(.hang, onNext: 1)
        setting.clock.advance(by: .seconds(2 * 3600))
        await setting.remote.waitUntilRequestHangs()
        #expect(scheduler.pending[.refresh] != nil)
        scheduler.expire()
        await heard.wait { if case .expired = $0 { true } else { false } }
        await heard.wait { if case .finished = $0 { true } else { false } }
        setting.remote.behaveWell()
      }
    }
  }

  @Test(
    "R2.6: one recorded write per key in 120 s; others are cached; disconnecting resets the key",
    arguments: StoreKind.allCases)
  func sightingsAreThrottled(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let throttle = try await setting.engine([Setting.meters]).throttle()
      let seen = { (name: String) in Meter(mac: "AA:01", name: name) }
      #expect(try await throttle.record(seen("one"), key: "m") == .recorded)
      setting.clock.advance(by: .seconds(119))
      #expect(try await throttle.record(seen("two"), key: "m") != .recorded)
      #expect(try await throttle.latest(Meter.self, key: "m")?.value.name == "two")
      #expect(try await setting.member("name", of: "m", "meters") == #""one""#)
      setting.clock.advance(by: .seconds(1))
      #expect(try await throttle.record(seen("three"), key: "m") == .recorded)
      try await throttle.reset(RecordID(type: "meters", key: "m"))
      #expect(try await throttle.record(seen("four"), key: "m") == .recorded)
    }
  }

  @Test(
    "R2.7: failures are retried with jitter, a cap and a budget; Retry-After is respected",
    arguments: StoreKind.allCases)
  func failuresAreTriedAgain(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...2)
      setting.remote.behave(
        .fail(SyncError(.remoteUnavailable, during: "listing", retryAfter: .seconds(7))), onNext: 1)
      let engine = try await setting.engine([Setting.teams])
      async let result = engine.sync()
      // The sync's own waits; the lease is renewed every five seconds beside them.
      while setting.clock.nextDeadline == nil
        || !setting.recorder.events.contains(where: { if case .retrying = $0 { true } else { false } })
      {
        await Task.yield()
      }
      guard
        case .retrying(_, let attempt, let pause, _)? = await setting.recorder.wait(for: {
          if case .retrying = $0 { true } else { false }
        })
      else { return }
      #expect(attempt == 2)
      #expect(pause >= .seconds(7))
      while setting.remote.counters().requests < 2 {
        setting.clock.advance(by: .seconds(1))
        await Task.yield()
      }
      #expect(try await result["teams"].inserted == 2)
      setting.remote.behave(
        .fail(SyncError(.remoteUnavailable, during: "listing", retryAfter: .seconds(3600))), onNext: 1)
      await #expect { try await engine.sync() } throws: {
        let error = $0 as? SyncError
        return error?.code == .remoteUnavailable && error?.retryAfter == .seconds(3600)
      }
      #expect(try await engine.status().first?.nextRetry == setting.clock.timestamp + .seconds(3600))
    }
  }

  @Test("R2.8: a prioritized type overtakes the others at their next page", arguments: StoreKind.allCases)
  func urgentTypesGoFirst(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      let (slow, urgent) = (Entity("slow"), Entity("urgent"))
      for number in 1...30 { setting.remote.upsert("slow", "s\(number)", #"{"id":"s\#(number)"}"#) }
      for number in 1...20 { setting.remote.upsert("urgent", "u\(number)", #"{"id":"u\#(number)"}"#) }
      let options = SyncOptions(pageSize: 10, pagesAhead: 0, maximumConcurrentTypes: 1)
      let engine = try await setting.engine([slow, urgent], options: options)
      setting.remote.onRequest = { request in
        if request.entity.type == "slow" { engine.prioritize(["urgent"]) }
      }
      _ = try await engine.sync()
      let types = setting.remote.requestLog.map(\.entity.type)
      #expect(types.first == "slow")
      let (last, next) = (types.lastIndex(of: "urgent"), types.dropFirst().firstIndex(of: "slow"))
      #expect(try #require(last) < #require(next))
      #expect(try await setting.keys("slow").count == 30)
    }
  }

  @Test("R2.9: push signals in a burst start one delta", arguments: StoreKind.allCases)
  func pushSignalsAreGathered(_ kind: StoreKind) async throws {
    try await withSetting(kind) { setting in
      setting.addTeams(1...2)
      let engine = try await setting.engine([Setting.teams])
      _ = try await engine.sync()
      setting.remote.upsert("teams", "t1", #"{"id":"t1","name":"changed"}"#)
      try await running(engine) { coordinator, heard in
        for _ in 1...5 { coordinator.pushSignal() }
        while heard.starts == 0 {
          setting.clock.advance(by: .milliseconds(100))
          await Task.yield()
        }
        await heard.wait { if case .finished = $0 { true } else { false } }
        #expect(heard.starts == 1)
      }
      #expect(try await setting.member("name", of: "t1", "teams") == #""changed""#)
    }
  }
}

// MARK: - A coordinator that runs

/// A coordinator's events, recorded and awaited.
private final class Heard: Sendable {
  private struct State {
    var events: [SyncCoordinator.Event] = []
    var change = CancellationSource()
  }
  private let state = Mutex(State())

  func receive(_ event: SyncCoordinator.Event) {
    let change = state.withLock { state in
      state.events.append(event)
      defer { state.change = CancellationSource() }
      return state.change
    }
    change.cancel()
  }

  var starts: Int {
    state.withLock { state in state.events.count { if case .started = $0 { true } else { false } } }
  }

  var hasStarted: Bool { starts > 0 }

  /// Waits until this many events satisfy a predicate, earlier ones included.
  func wait(count: Int = 1, _ predicate: (SyncCoordinator.Event) -> Bool) async {
    while !Task.isCancelled {
      let (events, change) = state.withLock { ($0.events, $0.change) }
      if events.count(where: predicate) >= count { return }
      await change.waitUntilCancelled()
    }
  }
}

private func running(
  _ engine: SyncEngine, _ scheduler: (any BackgroundScheduler)? = nil,
  _ story: (SyncCoordinator, Heard) async throws -> Void
) async throws {
  let heard = Heard()
  let coordinator = SyncCoordinator(engine: engine, scheduler: scheduler, observe: { heard.receive($0) })
  let run = Task { await coordinator.run() }
  while coordinator.status.state == .stopped { await Task.yield() }
  do {
    try await story(coordinator, heard)
  } catch {
    run.cancel()
    await run.value
    throw error
  }
  run.cancel()
  await run.value
}

/// A store that shows the readers' view of another one after each commit.
private func peeking(
  _ base: some LocalStore, _ peek: @escaping @Sendable (Set<String>) -> Void
) -> any LocalStore {
  PeekingStore(base: base, peek: peek)
}

private struct PeekingStore<Base: LocalStore>: ForwardingStore {
  let base: Base
  let peek: @Sendable (Set<String>) -> Void

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let result = try await base.write(authority, body)
    peek(
      try await base.read { (snapshot) throws(SyncError) in
        Set(try snapshot.records(Query("teams")).map(\.id.key))
      })
    return result
  }
}
