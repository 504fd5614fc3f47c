import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

/// A sink that throws at any batch with certain records.
struct ChokingSink: RemoteRecordSink {
  let base: InMemoryRemote
  let error: SyncError
  var keys: Set<String> = ["bad"]
  var identity: String { base.identity }
  func limits() async throws(SyncError) -> SinkLimits { try await base.limits() }
  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    if changes.contains(where: { keys.contains($0.id.key) }) {
      _ = try await base.push([], entities: entities)
      throw error
    }
    return try await base.push(changes, entities: entities)
  }
}

/// A sink that throws at one record, and denies writes of all others.
private final class DenyingSink: RemoteRecordSink {
  let base: InMemoryRemote
  private let log = Mutex<[[String]]>([])
  var batches: [[String]] { log.withLock { $0 } }
  var identity: String { base.identity }

  init(base: InMemoryRemote) { self.base = base }

  func limits() async throws(SyncError) -> SinkLimits { try await base.limits() }

  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    log.withLock { $0.append(changes.map(\.id.key)) }
    let isBad = changes.contains { $0.id.key == "bad" }
    throw SyncError(isBad ? .invalidResponse : .permissionDenied, during: "pushing")
  }
}

@Suite("An edit that the sink throws at", .timeLimit(.minutes(10)))
struct MalformedEditTests {
  private static let codes: [SyncError.Code] = [
    .invalidConfiguration, .invalidEdit, .inconsistentData, .invalidResponse, .remoteUnavailable,
  ]

  private func world(
    _ code: SyncError.Code, _ keys: Set<String> = ["bad"], attempts: Int = 1, retryAfter: Duration? = nil
  ) async throws -> PushWorld {
    let error = SyncError(code, during: "pushing", "The server answered 400.", retryAfter: retryAfter)
    return try await PushWorld(
      options: SyncOptions(retry: RetryPolicy(attempts: attempts)),
      sink: { ChokingSink(base: $0, error: error, keys: keys) })
  }

  /// Syncs, and returns the code of the error.
  private func sync(_ world: PushWorld) async -> SyncError.Code? {
    do {
      _ = try await world.engine.sync()
      return nil
    } catch {
      return error.code
    }
  }

  @Test(arguments: codes, [0, 4, 8])
  func isFoundAndKeepsNeitherOthersNorPullsBack(_ code: SyncError.Code, place: Int) async throws {
    let world = try await world(code)
    world.remote.upsert("meters", "theirs", "{}")
    for number in 0...8 { try await world.write("meters", number == place ? "bad" : "k\(number)") }
    #expect(await sync(world) == nil)
    #expect(world.there().count == 9)
    #expect(world.here()["theirs"] != nil)
    let entry = try #require(try await world.outbox().first)
    #expect(entry.id.key == "bad")
    switch entry.state {
    case .refused(let reason, _): #expect(reason.contains("400"))
    case .postponed: #expect(code == .remoteUnavailable)
    case .waiting: Issue.record("It is not known by name.")
    }
    let requests = world.remote.pushCounters.requests
    #expect(await sync(world) == nil)
    #expect(world.remote.pushCounters.requests == requests, "it is not sent again at once")
  }

  @Test(arguments: codes)
  func alsoWhereItIsTheOnlyOne(_ code: SyncError.Code) async throws {
    let world = try await world(code)
    world.remote.upsert("meters", "theirs", "{}")
    try await world.write("meters", "bad")
    #expect(await sync(world) == nil)
    #expect(world.here()["theirs"] != nil)
    #expect(try await world.outbox().first?.state != .waiting)
  }

  @Test(arguments: codes)
  func alsoWhereThereAreSeveral(_ code: SyncError.Code) async throws {
    let keys = (0..<20).map { "k\($0)" }
    let bad: Set = ["k0", "k7", "k8", "k19"]
    let world = try await world(code, bad)
    for key in keys { try await world.write("meters", key) }
    for _ in 0..<5 {
      world.clock.advance(by: .seconds(1))
      _ = await sync(world)
    }
    #expect(world.there().count == 16)
    #expect(Set(try await world.outbox().map(\.id.key)) == bad)
    #expect(world.remote.pushCounters.requests < 60)
  }

  /// What was sent may have arrived, and goes first.
  @Test func keepsItsAttemptsUnderANewerEdit() async throws {
    let world = try await world(.remoteUnavailable)
    try await world.write("meters", "bad")
    try await world.write("meters", "good")
    #expect(await sync(world) == nil)
    let postponed = try #require(try await world.outbox().first)
    try await world.write("meters", "bad", ["name": "2"])
    let edited = try #require(try await world.outbox().first)
    #expect(edited.sent == postponed.sent)
    #expect(edited.attempts == postponed.attempts)
  }

  @Test func isRefusedForGoodWhereTheRemoteIsAwayForItAloneTimeAndAgain() async throws {
    let world = try await world(.remoteUnavailable)
    try await world.write("meters", "bad")
    var states: [OutboxEntry.State?] = []
    for round in 0..<6 {
      try await world.write("meters", "good\(round)")
      #expect(await sync(world) == nil)
      states.append(try await world.outbox().first?.state)
      world.clock.advance(by: .seconds(7200))
    }
    let refused = states.map { if case .refused? = $0 { true } else { false } }
    #expect(refused == [false, false, false, true, true, true])
    #expect(world.there().count == 6)
  }

  @Test func meetsNoConflictWithWhatOfItHadArrived() async throws {
    let world = try await PushWorld(
      options: SyncOptions(retry: RetryPolicy(attempts: 1)),
      sink: { remote in
        OtherwiseSink(base: remote) { (_, outcomes) throws(SyncError) in
          let isLost = outcomes.contains { outcome in
            if case .accepted(let change) = outcome { change.id?.key == "bad" } else { false }
          }
          if isLost { throw SyncError(.remoteUnavailable, during: "pushing") }
          return outcomes
        }
      })
    try await world.write("meters", "bad")
    _ = try? await world.engine.sync(SyncRequest(direction: .push))
    try await world.write("meters", "bad", ["name": "2"])
    try await world.write("meters", "good")
    _ = try await world.engine.sync()
    #expect(world.there().keys.sorted() == ["bad", "good"])
    #expect(world.here()["bad"]?.contains(#""name":2"#) == true)
    #expect(try await world.engine.edits.conflicts().isEmpty)
  }

  @Test func hasNoOthersSentAgainWhoseTypeIsDenied() async throws {
    let sinks = Mutex<[DenyingSink]>([])
    let world = try await PushWorld(
      options: SyncOptions(retry: RetryPolicy(attempts: 1)),
      sink: { remote in
        let sink = DenyingSink(base: remote)
        sinks.withLock { $0.append(sink) }
        return sink
      })
    for key in ["bad", "other"] { try await world.write("meters", key) }
    let result = try await world.engine.sync()
    #expect(result.failures.map(\.error.code) == [.permissionDenied])
    let batches = try #require(sinks.withLock { $0.first }).batches
    #expect(batches == [["bad", "other"], ["bad"], ["other"]])
  }

  @Test func isNotLookedForWhereTheRemoteIsAway() async throws {
    let keys = Set((0..<100).map { "k\($0)" })
    let world = try await world(.remoteUnavailable, keys, attempts: 3)
    for key in keys.sorted() { try await world.write("meters", key) }
    world.remote.behave(.fail(SyncError(.remoteUnavailable, during: "testing")), onNext: 100)
    let sync = Task { await self.sync(world) }
    #expect(await sync.value == .remoteUnavailable)
    #expect(world.remote.pushCounters.requests <= 5)
    #expect(try await world.outbox().allSatisfy { $0.state == .waiting })
  }

  @Test func isNotLookedForWhereTheRemoteAsksToBeLeftAlone() async throws {
    let world = try await world(.remoteUnavailable, retryAfter: .seconds(3600))
    for key in ["bad", "good"] { try await world.write("meters", key) }
    #expect(await sync(world) == .remoteUnavailable)
    #expect(world.remote.pushCounters.requests == 1)
    #expect(world.remote.counters().requests == 0)
  }

  @Test(arguments: [SyncError.Code.invalidConfiguration, .remoteUnavailable])
  func hasAnotherChanceOnceItIsEditedAgain(_ code: SyncError.Code) async throws {
    let world = try await world(code)
    for key in ["bad", "good"] { try await world.write("meters", key) }
    #expect(await sync(world) == nil)
    try await world.write("meters", "bad", ["name": "2"])
    #expect(try await world.outbox().first?.state == .waiting)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, sink: world.remote,
      clock: world.clock, random: RepeatedNumber())
    _ = try await engine.sync()
    _ = try await engine.sync()
    #expect(world.there()["bad"] == #"{"name":2}"#)
    #expect(try await world.outbox().isEmpty)
  }

  /// Two edits that fail alone delay the others only until the pull.
  ///
  /// The pull shows that the remote is reachable.
  @Test(arguments: codes) func keepsOthersBackNoLongerThanThePullTakes(_ code: SyncError.Code) async throws {
    let world = try await world(code, ["k0", "k2"])
    for key in ["k0", "k1", "k2"] { try await world.write("meters", key) }
    #expect(await sync(world) == nil)
    #expect(world.there().keys.sorted() == ["k1"])
  }

  @Test func isSentOnceInAPushWhereItIsADeletionThatWasSentBefore() async throws {
    let world = try await world(.invalidResponse)
    world.remote.upsert("meters", "bad", "{}")
    _ = await sync(world)
    try await world.delete("meters", "bad")
    _ = await sync(world)
    world.clock.advance(by: .seconds(3600))
    let requests = world.remote.pushCounters.requests
    _ = await sync(world)
    #expect(world.remote.pushCounters.requests == requests + 1)
  }
}
