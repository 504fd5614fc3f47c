import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A listing of keys alone", .timeLimit(.minutes(10)))
struct KeyListingTests {
  /// A store in step with twenty teams, when keys are due to be listed.
  private func world() async throws -> World {
    let world = try await World(
      configuration: .sweptDatabase(every: .seconds(60)), options: SyncOptions(pageSize: 6))
    world.addTeams(1...20)
    _ = try await world.engine.sync()
    // Out of the overlap of the next delta.
    world.clock.advance(by: .seconds(10))
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(61))
    return world
  }

  @Test func findsDeletionsWithoutAFullListing() async throws {
    let world = try await world()
    for key in ["t3", "t17"] { world.remote.delete("teams", key) }
    let before = world.remote.counters(for: "teams")
    let result = try await world.engine.sync()
    #expect(result["teams"].swept == 2 && result["teams"].deleted == 2)
    #expect(result.total.fetched == result.total.outcomes - result.total.swept)
    #expect(world.isEqual("teams"))
    let after = world.remote.counters(for: "teams")
    #expect(after.changes == before.changes, "No content was sent.")
    #expect(after.lookups - before.lookups == 2, "Only what the listing lacked was looked up.")
    // Until the next listing is due, a deletion is not seen.
    world.remote.delete("teams", "t5")
    world.clock.advance(by: .seconds(30))
    #expect(try await world.engine.sync()["teams"].deleted == 0)
    world.clock.advance(by: .seconds(31))
    #expect(try await world.engine.sync()["teams"].deleted == 1)
  }

  @Test func bringsWhatNoDeltaListed() async throws {
    let world = try await world()
    // Written long before the last pass, as an index that was late by more than the overlap has it.
    let past = world.clock.timestamp - .seconds(50)
    world.remote.upsert("teams", "late", #"{"name":"Late"}"#, modifiedAt: past)
    world.remote.upsert("teams", "t4", #"{"name":"Newer"}"#, modifiedAt: past)
    let result = try await world.engine.sync()
    #expect(result["teams"].inserted == 1 && result["teams"].updated == 1)
    #expect(result.total.fetched == result.total.outcomes - result.total.swept)
    #expect(world.isEqual("teams"))
  }

  @Test func leavesEditsAndWhatWaitsAlone() async throws {
    let world = try await world()
    world.addGame("g1", home: "t1", away: "missing")
    _ = try await world.engine.sync()
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "teams", key: "t2")) { (fields) throws(SyncError) in
        fields["name"] = Array(#""Mine""#.utf8)[...]
      }
    }
    world.clock.advance(by: .seconds(61))
    let result = try await world.engine.sync()
    #expect(result.failures.isEmpty && result.refusedSweeps.isEmpty && result.total.swept == 0)
    #expect(world.keys("teams").count == 20 && world.keys("games").isEmpty)
    #expect(try await world.engine.edits.pending("teams").count == 1)
    world.remote.upsert("teams", "missing", #"{"name":"Found"}"#)
    let last = try await world.engine.sync()
    #expect(world.keys("games") == ["g1"], "The parked copy was not forgotten. \(last)")
  }

  /// Lists everything by keys.
  private func engine(_ source: KeysAlone, _ store: InMemoryStore) async throws -> SyncEngine {
    try await SyncEngine(
      schema: SyncSchema([World.teams]), store: store, source: source, clock: source.clock,
      random: RepeatedNumber())
  }

  private func names(_ store: InMemoryStore) -> [String] {
    store.records(of: "teams").map { String(decoding: $0.payload.bytes, as: UTF8.self) }
  }

  /// The versions of a restored remote begin anew. A later one may be of a former copy.
  @Test(arguments: [false, true])
  func looksUpEverythingAtARemoteThatWasRestored(_ listsAnyway: Bool) async throws {
    let source = KeysAlone(listing: .moving)
    let store = InMemoryStore()
    let engine = try await engine(source, store)
    source.clock.advance(by: .seconds(100))
    source.base.upsert("teams", "t1", #"{"name":"before"}"#)
    _ = try await engine.sync()
    source.base.wipe("teams")
    let past = source.clock.timestamp - .seconds(50)
    source.base.upsert("teams", "t1", #"{"name":"restored"}"#, modifiedAt: past)
    _ = try await listsAnyway ? engine.resync() : engine.sync()
    #expect(names(store) == [#"{"name":"restored"}"#])
  }

  @Test func keepsAndNamesWhatTheRemoteRefusesToSend() async throws {
    let source = KeysAlone(listing: .snapshot)
    let store = InMemoryStore()
    let engine = try await engine(source, store)
    for key in ["t1", "t2", "t3"] { source.base.upsert("teams", key, #"{"name":"old"}"#) }
    _ = try await engine.sync()
    source.clock.advance(by: .seconds(100))
    for key in ["t1", "t4"] { source.base.upsert("teams", key, #"{"name":"new"}"#) }
    source.base.delete("teams", "t3")
    source.isOpen = false
    for _ in 1...2 {
      let result = try await engine.resync()
      #expect(names(store) == [#"{"name":"old"}"#, #"{"name":"old"}"#])
      #expect(result.total.fetched == result.total.outcomes - result.total.swept)
      let withheld = try await engine.status()[0].withheld
      #expect(withheld == [.quarantined: 2])
    }
    source.isOpen = true
    _ = try await engine.resync()
    #expect(names(store).sorted() == [#"{"name":"new"}"#, #"{"name":"new"}"#, #"{"name":"old"}"#])
    #expect(try await engine.status()[0].withheld.isEmpty)
  }
}

/// A remote that lists everything by keys alone, and may refuse to send contents.
private final class KeysAlone: RemoteRecordSource {
  let clock = ManualClock()
  let base: InMemoryRemote
  private let state = Mutex(true)

  init(listing: SourceCapabilities.Listing) {
    var configuration = InMemoryRemote.Configuration.timestampedCollection()
    configuration.listing = listing
    configuration.supportsLookup = true
    base = InMemoryRemote(configuration: configuration, clock: clock)
  }

  /// Whether it answers lookups.
  var isOpen: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
  var identity: String { base.identity }
  var capabilities: SourceCapabilities { base.capabilities }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var page = try await base.page(request)
    guard page.coverage == .full else { return page }
    for case .upsert(let record) in page.changes {
      page.present.append(PresentRecord(id: record.id, version: record.version))
    }
    page.changes = []
    return page
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    guard isOpen else { throw SyncError(.permissionDenied, during: "looking up") }
    return try await base.lookup(ids, of: entity)
  }
}
