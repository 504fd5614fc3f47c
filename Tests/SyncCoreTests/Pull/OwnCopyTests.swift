import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

/// The engine takes the contents of a listing of keys from the store, while pages before it are committed.
@Suite("A listing of keys, with the store's own copies,", .timeLimit(.minutes(10)))
struct OwnCopyTests {
  @Test func keepsWhatThePageBeforeHasBroughtUnderTheSameVersion() async throws {
    let world = try await World(configuration: .sweptDatabase(every: .seconds(60)))
    let meeting = Meeting()
    let engine = try await SyncEngine(
      schema: SyncSchema(World.teams, World.games), store: LateStore(base: world.store, meeting: meeting),
      source: FormingSource(base: world.remote, meeting: meeting), clock: world.clock,
      random: RepeatedNumber())
    world.addTeams(1...3)
    _ = try await engine.sync()
    world.clock.advance(by: .seconds(61))
    world.remote.upsert("teams", "t2", #"{"name":" Bob "}"#)
    _ = try await engine.sync()
    // The next delta reaches back to the change, and a listing of keys follows.
    world.clock.advance(by: .seconds(61))
    meeting.begin()
    _ = try await engine.sync()
    #expect(meeting.isOver, "The keys came before the commit of the delta.")
    let team = try #require(world.store.records(of: "teams").first { $0.id.key == "t2" })
    #expect(String(decoding: team.payload.bytes, as: UTF8.self) == #"{"name":"Bob"}"#)
  }

  /// Lets a commit wait until the engine has read its own copies for a listing of keys.
  private final class Meeting: Sendable {
    private enum State { case before, begun, deltaServed, keysServed, over }
    private let state = Mutex(State.before)
    private let (read, reader) = AsyncStream.makeStream(of: Void.self)

    func begin() { state.withLock { $0 = .begun } }
    var isForming: Bool { state.withLock { $0 != .before } }
    var isOver: Bool { state.withLock { $0 == .over } }

    func serve(_ page: RecordPage) {
      state.withLock { state in
        if state == .begun, !page.changes.isEmpty { state = .deltaServed }
        if state == .deltaServed, !page.present.isEmpty { state = .keysServed }
      }
    }

    func hasRead() {
      let isLast = state.withLock { state in
        guard state == .keysServed else { return false }
        state = .over
        return true
      }
      if isLast { reader.finish() }
    }

    func untilRead() async {
      guard state.withLock({ $0 == .deltaServed || $0 == .keysServed }) else { return }
      for await _ in read {}
    }
  }

  /// Stores names without spaces, as it shows from some time on under the version of before.
  private struct FormingSource: RemoteRecordSource {
    let base: InMemoryRemote
    let meeting: Meeting

    var identity: String { base.identity }
    var capabilities: SourceCapabilities { base.capabilities }

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      var page = try await base.page(request)
      guard meeting.isForming else { return page }
      page.changes = page.changes.map { change in
        guard case .upsert(var record) = change, record.id.key == "t2" else { return change }
        record.payload = Payload(Array(#"{"name":"Bob"}"#.utf8))
        return .upsert(record)
      }
      meeting.serve(page)
      return page
    }

    func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
      try await base.lookup(ids, of: entity)
    }
  }

  /// A store whose writes wait for the meeting.
  private struct LateStore: ForwardingStore {
    let base: InMemoryStore
    let meeting: Meeting

    func read<R: Sendable>(
      _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      let result = try await base.read(body)
      meeting.hasRead()
      return result
    }

    func write<R: Sendable>(
      _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      await meeting.untilRead()
      return try await base.write(authority, body)
    }
  }
}
