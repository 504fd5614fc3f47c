import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@testable import SyncCore

@Suite("The history of syncs", .timeLimit(.minutes(10)))
struct HistoryTests {
  @Test func hasWhatEachSyncDid() async throws {
    let world = try await World()
    world.addTeams(1...3)
    world.remote.behave(.fail(SyncError(.remoteUnavailable, during: "fetching")), on: 1)
    let result = try await world.engine.sync(SyncRequest(triggers: [.launch, .pushSignal]))
    _ = try await world.engine.sync()
    let history = try await world.engine.history()
    #expect(history.map(\.number) == [2, 1])
    let first = history[1]
    #expect(first.outcome == .finished && first.failure == nil && first.typeFailures.isEmpty)
    #expect(first.triggers == ["launch", "push-signal"])
    #expect(history[0].triggers == ["request"])
    #expect(first.total("inserted") == 3 && first.counts["teams"]?["inserted"] == 3)
    #expect(first.total("requests") == result.total.requests)
    #expect(first.retries == 1)
    #expect(first.bytes > 0 && history[0].bytes == 0)
    #expect(history[0].total("inserted") == 0 && history[0].total("requests") > 0)
    #expect(history[0].fence > first.fence)
    #expect(try await world.engine.history(limit: 1) == [history[0]])
  }

  @Test func hasFailuresOfTypesAndOfWholeSyncs() async throws {
    let world = try await World()
    world.remote.behave(.fail(SyncError(.permissionDenied, during: "fetching")), onNext: 1, of: "games")
    _ = try await world.engine.sync()
    world.remote.behave(.fail(SyncError(.authentication, during: "fetching")), onNext: 1)
    await #expect(throws: SyncError.self) { try await world.engine.sync() }
    let history = try await world.engine.history()
    #expect(history.map(\.outcome) == [.failed, .finished])
    #expect(history[0].failure?.code == "authentication")
    #expect(history[1].typeFailures.map(\.type) == ["games"])
    #expect(history[1].typeFailures.first?.failure.code == "permissionDenied")
  }

  @Test func hasStoppedSyncs() async throws {
    let world = try await World()
    let stop = CancellationSource()
    stop.cancel()
    let result = try await world.engine.sync(token: stop)
    #expect(result.wasCancelled)
    #expect(try await world.engine.history().first?.outcome ?? .stopped == .stopped)
  }

  @Test func hasKilledSyncsOnceTheNextHasBegun() async throws {
    let world = try await World()
    _ = try await world.engine.sync()
    // Another process begins a sync, and dies after its first transaction.
    let lease = try await world.store.acquireLease(for: .seconds(15))
    let killed = PastSync(number: 1, fence: lease.fence, triggers: ["launch"], began: world.clock.timestamp)
    _ = try await world.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      try SyncHistory.persist(killed, in: transaction)
    }
    #expect(try await world.engine.history().map(\.outcome) == [.running, .finished])
    try await world.store.release(lease)
    _ = try await world.engine.sync()
    let history = try await world.engine.history()
    #expect(history.map(\.outcome) == [.finished, .killed, .finished])
    #expect(history.map(\.number) == [3, 2, 1])
    #expect(history[1].triggers == ["launch"] && history[1].fence == lease.fence)
  }

  @Test func keepsTheLastThousandSyncs() async throws {
    let world = try await World()
    try await world.store.write(.app) { (transaction) throws(SyncError) in
      for number in 1...1005 {
        var sync = PastSync(number: 1, fence: Int64(number), triggers: [], began: Timestamp(microseconds: 0))
        sync.outcome = .finished
        try SyncHistory.persist(sync, in: transaction)
      }
    }
    let history = try await world.engine.history(limit: .max)
    #expect(history.map(\.number) == Array((6...1005).reversed()))
    #expect(history.allSatisfy { $0.number == $0.fence && $0.outcome == .finished })
  }

  @Test func isNotTakenFromAnotherFormat() async throws {
    let world = try await World()
    try await world.store.write(.app) { (transaction) throws(SyncError) in
      try transaction.setValue(Array("{}".utf8), forKey: "history")
      try transaction.setValue([0xff], forKey: "history/7")
    }
    #expect(try await world.engine.history().isEmpty)
    _ = try await world.engine.sync()
    #expect(try await world.engine.history().map(\.outcome) == [.finished])
  }

  @Test func goesOnAfterTheLatestNumberIfThatIsLost() async throws {
    let world = try await World()
    _ = try await world.engine.sync()
    _ = try await world.engine.sync()
    try await world.store.write(.app) { (transaction) throws(SyncError) in
      try transaction.setValue(nil, forKey: "history")
    }
    _ = try await world.engine.sync()
    #expect(try await world.engine.history().map(\.number) == [3, 2, 1])
  }

  @Test(arguments: [
    nil, SyncError(.remoteUnavailable, during: "fetching \"teams\"\n", retryAfter: .seconds(3)),
  ])
  func readsBackWhatItNoted(_ error: SyncError?) async throws {
    let store = InMemoryStore()
    var sync = PastSync(
      number: 1, fence: 7, triggers: ["launch", "a \"b\""], began: Timestamp(microseconds: -4))
    sync.outcome = error == nil ? .finished : .failed
    (sync.seconds, sync.fetchingSeconds, sync.writingSeconds) = (1.25e-7, 3, 1e21)
    (sync.bytes, sync.retries) = (5_000_000_000, 2)
    if let error {
      let failure = PassOutcomes.Failure(error, at: Timestamp(microseconds: 5))
      sync.failure = failure
      sync.typeFailures = [.init("teams", failure), .init("games \\", failure)]
      sync.counts = ["teams": ["inserted": 3, "fetched": 4], "games": ["deleted": 1]]
      sync.pushed = ["accepted": 1, "requests": 2]
    }
    let noted = sync
    try await store.write(.app) { (transaction) throws(SyncError) in
      try SyncHistory.persist(noted, in: transaction)
    }
    #expect(try await PastSync.load(from: store) == [sync])
  }

  /// Sums of such numbers would end the process.
  @Test(arguments: [
    ("number", "9223372036854775807"), ("fence", "-1"), ("pushed", #"{"accepted":-1}"#),
    ("counts", #"{"teams":{"fetched":9223372036854775807}}"#),
  ])
  func leavesOutASyncWithNumbersOutOfReach(_ member: String, _ value: String) async throws {
    let store = InMemoryStore()
    func note(_ members: [String: String]) async throws {
      let sound = [
        "number": "1", "fence": "7", "triggers": "[]", "began": "5", "outcome": "\"finished\"",
        "seconds": "1",
      ]
      let text = sound.merging(members) { $1 }.map { "\"\($0)\":\($1)" }.joined(separator: ",")
      try await store.write(.app) { (transaction) throws(SyncError) in
        try transaction.setValue(Array("{\(text)}".utf8), forKey: "history/1")
      }
    }
    try await note(["counts": #"{"teams":{"fetched":4},"games":{"fetched":5}}"#])
    #expect(try await PastSync.load(from: store).map { $0.total("fetched") } == [9])
    try await note([member: value])
    #expect(try await PastSync.load(from: store).isEmpty)
  }

  @Test(arguments: [true, false])
  func takesNoTransactionOfItsOwn(_ hasNews: Bool) async throws {
    let world = try await World()
    let writes = Mutex(0)
    world.addTeams(1...3)
    _ = try await world.engine.sync()
    let store = FaultyStore(world.store) { writes.withLock { $0 += 1 } }
    let engine = try await SyncEngine(
      schema: SyncSchema(World.teams, World.games), store: store, source: world.remote, clock: world.clock,
      random: RepeatedNumber())
    if hasNews { world.addTeams(4...5) }
    writes.withLock { $0 = 0 }
    let result = try await engine.sync()
    // One for the pages of each of the two types.
    #expect(writes.withLock(\.self) == 2)
    let noted = try await engine.history()[0]
    #expect(noted.outcome == .finished && noted.number == 2)
    #expect(noted.total("inserted") == (hasNews ? 2 : 0))
    #expect(noted.total("requests") == result.total.requests)
  }

  @Test func hasWhatTheSweepsDid() async throws {
    let world = try await World(configuration: InMemoryRemote.Configuration(deltas: .fullOnly))
    world.addTeams(1...3)
    _ = try await world.engine.sync()
    world.remote.delete("teams", "t1")
    let result = try await world.engine.sync()
    let noted = try await world.engine.history()[0]
    #expect(result.total.swept == 1 && noted.total("swept") == 1)
    #expect(noted.total("deleted") == 1 && noted.outcome == .finished)
  }

  /// The last type's page seems to be the end of the sync, until the stop.
  @Test func notesAStopAfterTheLastPage() async throws {
    let (world, token) = (try await World(), CancellationSource())
    _ = try await world.engine.sync()
    let engine = try await SyncEngine(
      schema: SyncSchema(World.teams, World.games), store: world.store, source: world.remote,
      clock: world.clock, observers: [AfterPages(2) { token.cancel() }], random: RepeatedNumber())
    #expect(try await engine.sync(token: token).wasCancelled)
    #expect(try await engine.history().map(\.outcome) == [.stopped, .finished])
  }
}
