import CanonicalSync
import CanonicalSyncTestExecutors
import InMemoryAdapters
import Testing

@Suite("The events of a sync", .timeLimit(.minutes(10)))
struct EventTests {
  private func name(_ event: SyncEvent) -> String {
    switch event {
    case .started: "started"
    case .entityStarted(let type, _, _): "entityStarted \(type)"
    case .pageCommitted(let page): "pageCommitted \(page.type)"
    case .retrying: "retrying"
    case .reset: "reset"
    case .quarantined: "quarantined"
    case .sweepRefused: "sweepRefused"
    case .entityFinished(let type, _): "entityFinished \(type)"
    case .entityFailed: "entityFailed"
    case .undecodable: "undecodable"
    case .edited: "edited"
    case .moved: "moved"
    case .annotated: "annotated"
    case .immutableAssigned: "immutableAssigned"
    case .targetDeleted: "targetDeleted"
    case .hidden: "hidden"
    case .conflict: "conflict"
    case .clockAhead: "clockAhead"
    case .editRefused: "editRefused"
    case .policyFailed: "policyFailed"
    case .remoteStorageFull: "remoteStorageFull"
    case .pushCommitted: "pushCommitted"
    case .pushFinished: "pushFinished"
    case .finished: "finished"
    case .failed: "failed"
    case .lost(let count): "lost \(count)"
    }
  }

  @Test func comeInTheirOrder() async throws {
    let world = try await World(options: SyncOptions(pageSize: 2, pagesAhead: 0))
    world.addTeams(1...3)
    world.addGame("g1", home: "t1", away: "t2")
    world.remote.putMalformed("games", "g2", [])
    _ = try await world.engine.sync()
    #expect(
      world.recorder.events.map(name) == [
        "started", "entityStarted teams", "pageCommitted teams", "pageCommitted teams",
        "entityFinished teams", "entityStarted games", "quarantined", "pageCommitted games",
        "entityFinished games", "finished",
      ])
  }

  @Test func reachEveryConsumerAndStartWithTheSubscription() async throws {
    let world = try await World()
    _ = try await world.engine.sync()
    let consumers = [world.engine.events(), world.engine.events()]
    world.addTeams(1...1)
    _ = try await world.engine.sync()
    for consumer in consumers {
      var names: [String] = []
      for await event in consumer {
        names.append(name(event))
        if case .finished = event { break }
      }
      #expect(names.first == "started")
      #expect(names.contains("pageCommitted teams"))
    }
  }

  @Test func areDroppedFromTheOldestOnForASlowConsumerAndTheSyncGoesOn() async throws {
    let world = try await World([Entity("teams")], options: SyncOptions(pageSize: 1))
    let slow = world.engine.events()
    world.addTeams(1...300)
    _ = try await world.engine.sync()
    // The start, the type's start, 300 pages, the type's end and the end.
    var iterator = slow.makeAsyncIterator()
    let first = try #require(await iterator.next())
    #expect(name(first) == "lost \(304 - 256)")
    var rest: [String] = []
    while rest.last != "finished", let event = await iterator.next() { rest.append(name(event)) }
    #expect(rest.count == 256)
  }

  @Test func endWithTheTaskThatReadsThem() async throws {
    let world = try await World()
    let events = world.engine.events()
    let reader = Task {
      var count = 0
      for await _ in events { count += 1 }
      return count
    }
    reader.cancel()
    #expect(await reader.value == 0)
  }

  @Test func areSharedByTwoReadersOfOneSequence() async throws {
    try await OneThread.run {
      let world = try await World()
      let events = world.engine.events()
      func reader() -> Task<SyncEvent?, Never> {
        Task(executorPreference: OneThread.current) {
          var iterator = events.makeAsyncIterator()
          return await iterator.next()
        }
      }
      let readers = [reader(), reader()]
      // On one thread, both readers wait before the sync's first event.
      world.addTeams(1...1)
      _ = try await world.engine.sync()
      // Readers that waited longer get events too.
      for reader in readers { #expect(await reader.value != nil) }
    }
  }

  @Test func areNotKeptForAConsumerThatIsGone() async throws {
    let world = try await World()
    weak var buffer: AnyObject?
    do {
      let events = world.engine.events()
      buffer = Mirror(reflecting: events).children.first?.value as AnyObject?
      #expect(buffer != nil)
      withExtendedLifetime(events) {}
    }
    #expect(buffer == nil)
    _ = try await world.engine.sync()
  }

  @Test func addUpToTheCountersOfAMetricsSystem() async throws {
    let counters = MetricsObserver()
    let world = try await World(options: SyncOptions(pageSize: 2))
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, clock: world.clock,
      observers: [counters], random: RepeatedNumber())
    world.addTeams(1...3)
    world.remote.behave(.fail(SyncError(.remoteUnavailable, during: "fetching")), on: 1)
    let first = try await engine.sync()
    world.addTeams(4...4)
    world.remote.expireTokens(of: "teams")
    let second = try await engine.sync()
    world.remote.behave(.fail(SyncError(.authentication, during: "fetching")))
    await #expect(throws: SyncError.self) { try await engine.sync() }
    let lines = counters.metrics.prometheusText.split(separator: "\n")
    for line in [
      #"syncs_total{outcome="started"} 3"#, #"syncs_total{outcome="finished"} 2"#,
      #"syncs_total{outcome="failed"} 1"#, #"sync_failures_total{code="authentication"} 1"#,
      #"changes_total{type="teams",outcome="inserted"} 4"#,
    ] {
      #expect(lines.contains("canonicalsync_\(line)"), "\(line)")
    }
    func sum(_ name: String) -> Double {
      counters.metrics.filter { $0.name == "canonicalsync_\(name)" }.reduce(0) { $0 + $1.value }
    }
    #expect(sum("retries_total") == 1)
    #expect(sum("resets_total") == 1)
    #expect(sum("fetched_total") == Double(first.total.fetched + second.total.fetched))
    let requests = try await engine.history().reduce(0) { $0 + $1.total("requests") }
    // The failed sync's are counted too.
    #expect(requests == first.total.requests + second.total.requests + 1)
    #expect(sum("requests_total") == Double(requests))
  }
}
