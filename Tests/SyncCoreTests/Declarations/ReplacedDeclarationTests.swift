import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import SyncCore
import Synchronization
import Testing

@Suite("Declarations that others have replaced", .timeLimit(.minutes(10)))
struct ReplacedDeclarationTests {
  private static let teams = Entity("teams")
  private static let games = Entity("games", references: [.to("teams", by: "team")])
  private static let looseGames = Entity("games", references: [.to("teams", by: "team", ordered: false)])
  private static let game = RecordID(type: "games", key: "g")

  /// Between two pages, another version registers.
  @Test func endASyncThatIsRunning() async throws {
    let table = WithheldTable()
    for n in 0..<4 { table.remote.upsert("games", "g\(n)", #"{"team":"t\#(n)"}"#) }
    table.remote.upsert("teams", "t0", "{}")
    let newer = Mutex<SyncEngine?>(nil)
    let source = HookedRemote(table.remote) { request in
      guard request.entity.type == "games", !table.keys("games").isEmpty, newer.withLock({ $0 }) == nil else {
        return
      }
      let engine = try? await table.engine(Self.teams, Self.games)
      newer.withLock { $0 = engine }
    }
    let older = try await SyncEngine(
      schema: SyncSchema(Self.teams, Self.looseGames), store: table.store, source: source, clock: table.clock,
      options: SyncOptions(pageSize: 1, pagesAhead: 0), random: RepeatedNumber())
    let error = await #expect(throws: SyncError.self) { try await older.sync() }
    #expect(error?.code == .declarationsReplaced)
    #expect(table.keys("games") == ["g0"], "The page that was merged before stays, and no other one came.")
    let next = try #require(newer.withLock { $0 })
    let entry = try await next.history().first
    #expect(entry?.outcome == .failed && entry?.failure?.code == "declarationsReplaced")
    _ = try await next.sync()
    #expect(table.keys("games") == ["g0"])
    #expect(try await next.status().first { $0.type == "games" }?.withheld == [.parked: 3])
    for n in 1..<4 { table.remote.upsert("teams", "t\(n)", "{}") }
    _ = try await next.sync()
    #expect(table.keys("games").count == 4)
  }

  @Test func areThoseOfAnEngineWithATypeThatIsDeclaredNoMore() async throws {
    let table = WithheldTable()
    let older = try await table.engine(Self.teams, Self.games)
    _ = try await older.sync()
    let newer = try await table.engine(Self.teams)
    let error = await #expect(throws: SyncError.self) { try await older.sync() }
    #expect(error?.code == .declarationsReplaced)
    _ = try await newer.sync()
    let again = try await table.engine(Self.teams, Self.games)
    _ = try await again.sync()
    await #expect(throws: SyncError.self) { try await newer.sync() }
  }

  /// A process is killed between the two writes of its registration, which brings a new type.
  @Test func doNotIncludeATypeWhoseRegistrationWasInterrupted() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    table.remote.upsert("games", "g", #"{"team":"t"}"#)
    _ = try await table.engine(Self.teams).sync()
    try await table.store.register(SyncSchema(Self.teams, Self.games))
    let older = try await table.engine(Self.teams)
    _ = try await older.sync()
    let newer = try await table.engine(Self.teams, Self.games)
    _ = try await newer.sync()
    #expect(table.keys("games") == ["g"])
    await #expect(throws: SyncError.self) { try await older.sync() }
  }

  /// The discarded edit leaves a copy that waits for a record which the newer version does not need.
  @Test func parkNothingForGood() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    table.remote.upsert("games", "g", #"{"team":"nowhere"}"#)
    let older = try await table.engine(Self.teams, Self.games)
    let newer = try await table.engine(Self.teams, Self.looseGames)
    _ = try await newer.sync()
    #expect(table.keys("games") == ["g"])
    try await older.edits.perform { (batch) throws(SyncError) in
      try batch.set(Self.game) { $0["team"] = Array(#""t""#.utf8)[...] }
    }
    try await older.edits.discard(Self.game)
    #expect(try await table.withheld(Self.game)?.kind == .parked)
    _ = try await newer.sync()
    #expect(table.keys("games") == ["g"])
    #expect(try await table.withheld(Self.game) == nil)
  }

  @Test func lettingReferencesDangleAreFollowedByAWalk() async throws {
    let table = WithheldTable()
    table.remote.upsert("teams", "t", "{}")
    table.remote.upsert("games", "g", #"{"team":"t"}"#)
    let older = try await table.engine(Self.teams, Self.looseGames)
    _ = try await older.sync()
    let newer = try await table.engine(Self.teams, Self.games)
    _ = try await newer.sync()
    try await older.edits.delete(RecordID(type: "teams", key: "t"))
    _ = try await newer.sync()
    _ = try await newer.sync()
    #expect(table.keys("games") == [])
    #expect(try await table.withheld(Self.game)?.kind == .parked)
  }

  /// A salvage keeps the store's declarations, and not the note that its records do not follow them.
  @Test func areCheckedAnewInASalvagedStore() async throws {
    let table = WithheldTable()
    table.remote.upsert("games", "g", #"{"team":"nowhere"}"#)
    _ = try await table.engine(Self.teams, Self.looseGames).sync()
    _ = try await table.engine(Self.teams, Self.games)
    try await table.store.write(.app) { (transaction) throws(SyncError) in
      try transaction.setValue(nil, forKey: "declarations")
    }
    _ = try await table.engine(Self.teams, Self.games).sync()
    #expect(table.keys("games") == [])
  }

  /// The older version registers first, and is the last to note it.
  @Test func areThoseOfAnEngineThatWasOvertakenAsItRegistered() async throws {
    let table = WithheldTable()
    table.remote.upsert("games", "g", #"{"team":"nowhere"}"#)
    _ = try await table.engine(Self.teams, Self.games).sync()
    let newer = Mutex<SyncEngine?>(nil)
    let store = OvertakenStore(base: table.store) {
      let engine = try? await table.engine(Self.teams, Self.games)
      newer.withLock { $0 = engine }
    }
    let older = try await SyncEngine(
      schema: SyncSchema(Self.teams, Self.looseGames), store: store, source: table.remote, clock: table.clock,
      random: RepeatedNumber())
    let next = try #require(newer.withLock { $0 })
    await #expect(throws: SyncError.self) { try await older.sync() }
    _ = try await next.sync()
    #expect(table.keys("games") == [])
    _ = try await table.engine(Self.teams, Self.looseGames).sync()
    #expect(table.keys("games") == ["g"])
  }
}

/// A remote that does something before each page.
private final class HookedRemote: RemoteRecordSource {
  private let base: InMemoryRemote
  private let hook: @Sendable (PageRequest) async -> Void

  init(_ base: InMemoryRemote, hook: @escaping @Sendable (PageRequest) async -> Void) {
    (self.base, self.hook) = (base, hook)
  }

  var identity: String { base.identity }
  var capabilities: SourceCapabilities { base.capabilities }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    await hook(request)
    return try await base.page(request)
  }
}

/// A store to which something happens after each registration.
private struct OvertakenStore: ForwardingStore {
  let base: InMemoryStore
  let hook: @Sendable () async -> Void

  func register(_ schema: SyncSchema) async throws(SyncError) {
    try await base.register(schema)
    await hook()
  }
}
