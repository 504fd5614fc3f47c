import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

// R2.2
@Suite("A complete listing of a type that is shown whole", .timeLimit(.minutes(10)))
struct WholeListingTests {
  private static let teams = Entity("teams", visibility: .wholeEntity)

  /// A store that notes its teams after every transaction, and a remote with scripted lookups.
  ///
  /// A lookup may stop the sync or fail.
  private struct Whole {
    let clock = ManualClock()
    let remote: InMemoryRemote
    let source: AskedRemote
    let store: WatchedStore
    let recorder = EventRecorder()
    let engine: SyncEngine

    init(
      _ configuration: InMemoryRemote.Configuration, entities: [Entity] = [WholeListingTests.teams],
      options: SyncOptions = SyncOptions(pageSize: 10, retry: RetryPolicy(attempts: 1))
    ) async throws {
      let clock = clock
      remote = InMemoryRemote(configuration: configuration, clock: clock)
      source = AskedRemote(base: remote)
      store = WatchedStore(base: InMemoryStore(leaseClock: { clock.timestamp }))
      engine = try await SyncEngine(
        schema: SyncSchema(entities), store: store, source: source, clock: clock, options: options,
        observers: [recorder], random: RepeatedNumber())
    }

    func add(_ numbers: ClosedRange<Int>, _ name: String) {
      for number in numbers { remote.upsert("teams", "t\(number)", #"{"name":"\#(name)"}"#) }
    }

    /// Prepares forty old teams in the store, and forty at the remote.
    ///
    /// Thirty of those at the remote are renamed old teams, and ten are new.
    func replaceAll() async throws {
      add(1...40, "old")
      _ = try await engine.sync()
      clock.advance(by: .seconds(100))
      remote.wipe("teams")
      add(11...50, "new")
      store.forget()
    }

    var names: Set<String> { Set(store.shown.last ?? []) }
  }

  private static let old = Set((1...40).map { "t\($0) old" })
  private static let new = Set((11...50).map { "t\($0) new" })

  private static var lookedUp: InMemoryRemote.Configuration {
    var configuration = InMemoryRemote.Configuration.timestampedCollection()
    configuration.supportsLookup = true
    return configuration
  }

  @Test(arguments: [InMemoryRemote.Configuration.fullOnly, .privateZone, lookedUp])
  func replacesWhatReadersSeeInOneTransaction(_ configuration: InMemoryRemote.Configuration) async throws {
    let whole = try await Whole(configuration)
    try await whole.replaceAll()
    let counts = try await whole.engine.sync()["teams"]
    #expect(counts.swept == 10 && counts.inserted == 10 && counts.updated == 30)
    #expect(counts.outcomes - counts.swept == counts.fetched)
    #expect(whole.store.shown.allSatisfy { $0 == Self.old || $0 == Self.new })
    #expect(whole.names == Self.new)
    #expect(whole.remote.records(of: "teams").count == 40)
    #expect(try await whole.engine.sync()["teams"].isEmpty)
  }

  @Test func leavesTheOldStateWhereItIsStoppedWhileAbsencesAreConfirmed() async throws {
    let whole = try await Whole(Self.lookedUp)
    try await whole.replaceAll()
    let cancellation = CancellationSource()
    whole.source.onLookup { cancellation.cancel() }
    #expect(try await whole.engine.sync(token: cancellation).wasCancelled)
    #expect(whole.names == Self.old)
    // A record that the remote deletes meanwhile is staged, and not shown.
    whole.remote.delete("teams", "t50")
    whole.source.onLookup {}
    _ = try await whole.engine.sync()
    let states = Set(whole.store.shown)
    #expect(states.count <= 3 && states.contains(Self.old))
    _ = try await whole.engine.sync()
    #expect(whole.names == Self.new.subtracting(["t50 new"]))
  }

  @Test func leavesTheOldStateWhereTheRemoteIsAwayWhileAbsencesAreConfirmed() async throws {
    let whole = try await Whole(Self.lookedUp)
    try await whole.replaceAll()
    whole.source.onLookup { () throws(SyncError) in
      throw SyncError(.remoteUnavailable, during: "looking up")
    }
    await #expect(throws: SyncError.self) { try await whole.engine.sync() }
    #expect(whole.names == Self.old)
    whole.source.onLookup {}
    _ = try await whole.engine.sync()
    #expect(whole.names == Self.new)
  }

  @Test func showsItsCopiesWhereTheRemoteRefusesToConfirmAbsences() async throws {
    let whole = try await Whole(Self.lookedUp)
    try await whole.replaceAll()
    whole.source.onLookup { () throws(SyncError) in
      throw SyncError(.permissionDenied, during: "looking up")
    }
    // The error may be the sync's or the type's. In both cases the copies are stored.
    _ = try? await whole.engine.sync()
    #expect(whole.names.isSuperset(of: Self.new) && whole.names.count == 50)
    whole.source.onLookup {}
    _ = try await whole.engine.sync()
    #expect(whole.names == Self.new)
  }

  @Test func showsItsCopiesAndSaysSoWhereItsSweepIsRefused() async throws {
    let whole = try await Whole(
      .privateZone, options: SyncOptions(pageSize: 10, massDeletionRecords: 5, massDeletionShare: 0.1))
    try await whole.replaceAll()
    let result = try await whole.engine.sync()
    #expect(result.refusedSweeps.count == 1)
    let events = whole.recorder.events.filter { if case .sweepRefused = $0 { true } else { false } }
    #expect(events.count == 1)
    let both = Self.new.union((1...10).map { "t\($0) old" })
    #expect(whole.names == both)
    // 10 of 50: staged records count as shown.
    #expect(result.refusedSweeps.first?.refusal == .massDeletion(missing: 10, of: 50))
    _ = try await whole.engine.sync(SyncRequest(allowsMassDeletion: true))
    #expect(Set(whole.store.shown) == [Self.old, both, Self.new])
  }

  @Test func holdsWhatLiveRecordsReferTo() async throws {
    let games = Entity("games", references: [.to("teams", by: "home")])
    let whole = try await Whole(.fullOnly, entities: [Self.teams, games])
    whole.remote.upsert("games", "g", #"{"home":"t1"}"#)
    try await whole.replaceAll()
    _ = try await whole.engine.sync()
    #expect(whole.names == Self.new.union(["t1 old"]))
    whole.remote.upsert("games", "g", #"{"home":"t11"}"#)
    _ = try await whole.engine.sync()
    #expect(whole.names == Self.new)
  }

  @Test func removesACircleThatItLacks() async throws {
    let nodes = Entity("teams", references: [.to("teams", by: "next")], visibility: .wholeEntity)
    let whole = try await Whole(.fullOnly, entities: [nodes])
    for (key, next) in [("a", "b"), ("b", "a"), ("c", "a")] {
      whole.remote.upsert("teams", key, #"{"name":"old","next":"\#(next)"}"#)
    }
    _ = try await whole.engine.sync()
    for key in ["a", "b", "c"] { whole.remote.delete("teams", key) }
    whole.remote.upsert("teams", "d", #"{"name":"new"}"#)
    _ = try await whole.engine.sync()
    #expect(
      whole.store.shown.allSatisfy { $0.isEmpty || $0 == ["a old", "b old", "c old"] || $0 == ["d new"] })
    #expect(whole.names == ["d new"])
  }

  @Test func hasToLackARecordTwiceWhereTheRemoteCannotBeAsked() async throws {
    let whole = try await Whole(.timestampedCollection())
    try await whole.replaceAll()
    _ = try await whole.engine.sync()
    #expect(whole.names == Self.new.union((1...10).map { "t\($0) old" }))
    whole.clock.advance(by: .seconds(100))
    let counts = try await whole.engine.resync("teams")["teams"]
    #expect(counts.swept == 10)
    #expect(whole.names == Self.new)
  }

  /// An earlier copy waited for a record in the listing, and is shown with it.
  ///
  /// The listing lacks the copy, and no lookup has checked it.
  @Test func removesWhatItShowsThatTheRemoteHasNoMore() async throws {
    let teams = Entity("teams", references: [.to("teams", by: "next")], visibility: .wholeEntity)
    let whole = try await Whole(Self.lookedUp, entities: [teams])
    whole.remote.upsert("teams", "a", #"{"next":"b"}"#)
    whole.remote.upsert("teams", "c", "{}")
    _ = try await whole.engine.sync()
    #expect(whole.names == ["c new"])
    whole.clock.advance(by: .seconds(100))
    whole.remote.wipe("teams")
    whole.remote.upsert("teams", "b", "{}")
    _ = try await whole.engine.sync(SyncRequest(allowsMassDeletion: true))
    #expect(whole.names == ["b new"])
  }
}

/// A store that notes the visible teams after each transaction.
private final class WatchedStore: ForwardingStore {
  let base: InMemoryStore
  private let states = Mutex<[Set<String>]>([])

  init(base: InMemoryStore) { self.base = base }

  var shown: [Set<String>] { states.withLock { $0 } }

  /// Keeps only the current visible teams.
  func forget() { states.withLock { $0.removeFirst(max(0, $0.count - 1)) } }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let result = try await base.write(authority, body)
    let names = base.records(of: "teams").map { record in
      let text = String(decoding: record.payload.bytes, as: UTF8.self)
      return "\(record.id.key) \(text.contains("old") ? "old" : "new")"
    }
    states.withLock { $0.append(Set(names)) }
    return result
  }
}

/// A remote that acts on each lookup.
private final class AskedRemote: RemoteRecordSource {
  private let base: InMemoryRemote
  private let action = Mutex<@Sendable () throws(SyncError) -> Void>({})

  init(base: InMemoryRemote) { self.base = base }

  func onLookup(_ act: @escaping @Sendable () throws(SyncError) -> Void) { action.withLock { $0 = act } }

  var identity: String { base.identity }
  var capabilities: SourceCapabilities { base.capabilities }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage { try await base.page(request) }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    let act = action.withLock { $0 }
    try act()
    return try await base.lookup(ids, of: entity)
  }
}
