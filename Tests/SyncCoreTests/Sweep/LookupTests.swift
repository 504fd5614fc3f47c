import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Asking the remote whether a record is really gone", .timeLimit(.minutes(10)))
struct LookupTests {
  /// Five teams in the store, of which the remote has four after a wipe.
  private func engine(failingLookups: Int) async throws -> (
    SyncEngine, FailingLookups, InMemoryStore, EventRecorder
  ) {
    let clock = ManualClock()
    var configuration = InMemoryRemote.Configuration.timestampedCollection()
    configuration.supportsLookup = true
    let remote = InMemoryRemote(configuration: configuration, clock: clock)
    let source = FailingLookups(base: remote, failures: failingLookups)
    let recorder = EventRecorder()
    let store = InMemoryStore(leaseClock: { clock.timestamp })
    let engine = try await SyncEngine(
      schema: SyncSchema([World.teams]), store: store, source: source,
      clock: clock, options: SyncOptions(retry: RetryPolicy(attempts: 3)), observers: [recorder],
      random: RepeatedNumber())
    for number in 1...5 { remote.upsert("teams", "t\(number)", "{}") }
    _ = try await engine.sync()
    remote.wipe("teams")
    for number in 1...4 { remote.upsert("teams", "t\(number)", "{}") }
    return (engine, source, store, recorder)
  }

  @Test func isTriedAgainLikeAnyRequest() async throws {
    let (engine, source, _, recorder) = try await engine(failingLookups: 2)
    let result = try await engine.sync()
    #expect(result["teams"].swept == 1)
    #expect(source.lookups == 3)
    let attempts = recorder.events.compactMap {
      if case .retrying(_, let attempt, _, _) = $0 { attempt } else { nil }
    }
    #expect(attempts == [2, 3])
  }

  @Test func leavesTheRecordWhereTheRemoteDoesNotAnswer() async throws {
    let (engine, source, store, _) = try await engine(failingLookups: 3)
    let failed = try? await engine.sync()
    #expect(failed?["teams"].swept ?? 0 == 0)
    #expect(store.records(of: "teams").count == 5)
    let next = try await engine.sync()
    #expect(next["teams"].swept == 1)
    #expect(source.lookups == 4)
  }

  @Test func concernsTheTypeAloneForWhichItIsRefused() async throws {
    let clock = ManualClock()
    var configuration = InMemoryRemote.Configuration.publicDatabase()
    configuration.supportsLookup = true
    let remote = InMemoryRemote(configuration: configuration, clock: clock)
    let source = RefusedLookups(base: remote, type: "games")
    let recorder = EventRecorder()
    let store = InMemoryStore(leaseClock: { clock.timestamp })
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("teams"), Entity("games")), store: store, source: source, clock: clock,
      observers: [recorder], random: RepeatedNumber())
    for type in ["games", "teams"] as [RecordType] {
      for number in 1...3 { remote.upsert(type, "r\(number)", "{}") }
    }
    _ = try await engine.sync()
    for type in ["games", "teams"] as [RecordType] { remote.delete(type, "r1") }
    for _ in 1...2 {
      clock.advance(by: .seconds(2 * 86_400))
      let result = try await engine.sync()
      #expect(result.failures.map(\.type) == ["games"])
      #expect(result.failures.map(\.error.code) == [.permissionDenied])
      #expect(store.records(of: "teams").count == 2)
      #expect(store.records(of: "games").count == 3)
      let status = try await engine.status()
      #expect(status.map { $0.passes.lastError?.code } == [nil, "permissionDenied"])
      // The sweep stays due.
      #expect(status.map { $0.sweep != nil } == [false, true])
    }
    let failed = recorder.events.compactMap { if case .entityFailed(let type, _) = $0 { type } else { nil } }
    #expect(failed == ["games", "games"])
    source.isOpen = true
    #expect(try await engine.sync()["games"].swept == 1)
    #expect(try await engine.status().allSatisfy { $0.passes.lastError == nil && $0.sweep == nil })
  }

  /// Versions of a remote that replaced another one are newer than the former remote's.
  @Test func bringsTheCopiesOfTheRemoteThatReplacedAnother() async throws {
    let clock = ManualClock()
    var configuration = InMemoryRemote.Configuration.timestampedCollection()
    configuration.supportsLookup = true
    func remote(_ identity: String) -> InMemoryRemote {
      InMemoryRemote(identity: identity, configuration: configuration, clock: clock)
    }
    let (former, other) = (remote("former"), remote("other"))
    other.upsert("teams", "t1", #"{"name":"there"}"#)
    clock.advance(by: .seconds(10))
    for key in ["t1", "t2"] { former.upsert("teams", key, #"{"name":"here"}"#) }
    let store = InMemoryStore(leaseClock: { clock.timestamp })
    for source in [former, MovingListing(base: other, omitted: "t1")] as [any RemoteRecordSource] {
      let engine = try await SyncEngine(
        schema: SyncSchema([World.teams]), store: store, source: source, clock: clock,
        random: RepeatedNumber())
      _ = try await engine.sync()
    }
    let teams = store.records(of: "teams")
    #expect(teams.map { String(decoding: $0.payload.bytes, as: UTF8.self) } == [#"{"name":"there"}"#])
    // An edit of a copy of the former remote would lose its base.
    #expect(teams.map(\.version.epoch) == [1])
  }

  // R5.3
  @Test func isRememberedAsTheFailureOfItsTypeWhereItEndsTheSync() async throws {
    let (engine, _, _, _) = try await engine(failingLookups: 3)
    _ = try? await engine.sync()
    let status = try await engine.status()[0].passes
    #expect(status.lastError?.code == "remoteUnavailable")
    #expect(status.consecutiveFailures == 1)
  }
}

/// A remote that refuses lookups of one type.
private final class RefusedLookups: RemoteRecordSource {
  private let base: InMemoryRemote
  private let type: RecordType
  private let state = Mutex(false)

  init(base: InMemoryRemote, type: RecordType) {
    self.base = base
    self.type = type
  }

  var isOpen: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
  var identity: String { base.identity }
  var capabilities: SourceCapabilities { base.capabilities }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage { try await base.page(request) }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    if entity.type == type, !isOpen {
      throw SyncError(.permissionDenied, during: "looking up", "no right to ask by id")
    }
    return try await base.lookup(ids, of: entity)
  }
}

/// A remote whose first lookups fail.
private final class FailingLookups: RemoteRecordSource {
  private let base: InMemoryRemote
  private let state: Mutex<(failures: Int, lookups: Int)>

  init(base: InMemoryRemote, failures: Int) {
    self.base = base
    state = Mutex((failures, 0))
  }

  var identity: String { base.identity }
  var capabilities: SourceCapabilities { base.capabilities }
  /// The number of lookups.
  var lookups: Int { state.withLock { $0.lookups } }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage { try await base.page(request) }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    let fails = state.withLock { state in
      state.lookups += 1
      return state.lookups <= state.failures
    }
    if fails { throw SyncError(.remoteUnavailable, during: "looking records up") }
    return try await base.lookup(ids, of: entity)
  }
}

/// A remote whose listings lack a record, as a moving collection's may.
private struct MovingListing: RemoteRecordSource {
  let base: InMemoryRemote
  let omitted: String

  var identity: String { base.identity }
  var capabilities: SourceCapabilities { base.capabilities }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var page = try await base.page(request)
    page.changes.removeAll { $0.id?.key == omitted }
    return page
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    try await base.lookup(ids, of: entity)
  }
}
