import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A JSON API at the next sync", .timeLimit(.minutes(10)))
struct RESTRestartTests {
  private static func engine(
    _ type: String, _ api: FakeREST, _ store: InMemoryStore, _ clock: ManualClock
  ) async throws -> SyncEngine {
    let json = #"{"base":"https://api.test/v1/","types":{"items":{"path":"items",\#(type)}}}"#
    let description = try RESTAPI(json: Array(json.utf8), named: "api.json")
    let source = try RESTSource(description, transport: api, clock: clock)
    return try await SyncEngine(schema: description.schema, store: store, source: source, clock: clock)
  }

  @Test func aPauseHoldsForTheNextProcessAndEnds() async throws {
    let (api, store, clock) = (FakeREST(), InMemoryStore(), ManualClock())
    let isBusy = Mutex(true)
    api.onRequest { _ in
      isBusy.withLock { $0 }
        ? HTTPResponse(status: 429, headers: ["Retry-After": "90"])
        : HTTPResponse(status: 200, body: Array(#"[{"id":"a"}]"#.utf8))
    }
    let first = try await Self.engine(#""id":"/id""#, api, store, clock)
    let met = await #expect(throws: SyncError.self) { _ = try await first.sync() }
    #expect(met?.code == .remoteUnavailable && met?.retryAfter == .seconds(90))
    isBusy.withLock { $0 = false }
    clock.advance(by: .seconds(50))
    for _ in 1...2 {
      let second = try await Self.engine(#""id":"/id""#, api, store, clock)
      let next = await #expect(throws: SyncError.self) {
        _ = try await second.sync(SyncRequest(fullPull: ["items"]))
      }
      #expect(next?.code == .remoteUnavailable && next?.retryAfter == .seconds(40))
      #expect(next?.message.contains("until") == true)
    }
    #expect(api.requests.count == 1)
    clock.advance(by: .seconds(40))
    #expect(try await Self.engine(#""id":"/id""#, api, store, clock).sync().total.inserted == 1)
  }

  @Test func versionsMayStartOverAfterAResyncOrAnotherDeclaration() async throws {
    let (api, store, clock) = (FakeREST(), InMemoryStore(), ManualClock())
    let number = Mutex(9)
    api.onRequest { _ in
      let number = number.withLock { $0 }
      return HTTPResponse(
        status: 200, body: Array(#"[{"id":"a","v":\#(number),"w":\#(number - 5),"n":\#(number)}]"#.utf8))
    }
    let shown = { store.records(of: "items").map { String(decoding: $0.payload.bytes, as: UTF8.self) } }
    let engine = try await Self.engine(#""version":"/v""#, api, store, clock)
    _ = try await engine.sync()
    number.withLock { $0 = 7 }  // restored from a backup
    #expect(try await engine.sync().total.updated == 0)
    #expect(try await engine.resync().total.updated == 0)
    var resync = SyncRequest(fullPull: ["items"])
    resync.versionsStartOver = true
    #expect(try await engine.sync(resync).total.updated == 1)
    #expect(try await engine.sync().total.updated == 0)
    #expect(shown() == [#"{"id":"a","v":7,"w":2,"n":7}"#])
    number.withLock { $0 = 8 }
    let other = try await Self.engine(#""version":"/w""#, api, store, clock)
    #expect(try await other.sync().total.updated == 1)
    #expect(shown() == [#"{"id":"a","v":8,"w":3,"n":8}"#])
  }

  @Test func aTypeWithoutVersionsLeavesTheOthersTheirOrder() async throws {
    let (api, store, clock) = (FakeREST(), InMemoryStore(), ManualClock())
    let number = Mutex(2)
    api.onRequest { request in
      let number = number.withLock { $0 }
      let isPastTheEnd = request.address.query?.contains("p=2") == true
      return HTTPResponse(
        status: 200, body: Array((isPastTheEnd ? "[]" : #"[{"id":"a","v":\#(number)}]"#).utf8))
    }
    let json =
      #"{"base":"https://api.test/v1/","types":{"games":{"path":"games","version":"/v","item":"games/{id}","push":{"write":"PUT games/{id}"}},"flags":{"path":"flags","item":"flags/{id}","paging":{"page":"p"},"push":{"write":"PUT flags/{id}"}}}}"#
    let description = try RESTAPI(json: Array(json.utf8), named: "api.json")
    let source = try RESTSource(description, transport: api, clock: clock)
    let (games, flags) = (source.capabilities(of: "games"), source.capabilities(of: "flags"))
    #expect(games.versions == .perChange && flags.versions == .latestFetched)
    #expect(games.listing == .snapshot && flags.listing == .moving)
    #expect(games.serverManagedFields == ["id", "v"] && flags.serverManagedFields == ["id"])
    // What all types together can promise is what the weakest one can.
    #expect(source.capabilities.versions == .latestFetched && source.capabilities.listing == .moving)
    let engine = try await SyncEngine(
      schema: description.schema, store: store, source: source, clock: clock)
    _ = try await engine.sync()
    number.withLock { $0 = 1 }  // a replica that lags
    let result = try await engine.sync(SyncRequest(fullPull: ["games", "flags"]))
    #expect(result.entities.first { $0.type == "games" }?.counts.skippedOlder == 1)
    #expect(result.entities.first { $0.type == "flags" }?.counts.updated == 1)
  }

  @Test func aPageThatTakesTooLongIsAskedForWithHalfItsSize() async throws {
    let transport = SlowBeyond(limit: 30)
    let json =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","paging":{"offset":"o"},"pageSize":{"parameter":"limit"}}}}"#
    let description = try RESTAPI(json: Array(json.utf8), named: "api.json")
    let engine = try await SyncEngine(
      schema: description.schema, store: InMemoryStore(),
      source: RESTSource(description, transport: transport),
      options: SyncOptions(pageSize: 100, retry: RetryPolicy(base: .zero)))
    _ = try await engine.sync()
    #expect(transport.sizes.withLock { $0 } == [100, 50, 25])
  }

  /// Answers no request for more records than a limit in time.
  private final class SlowBeyond: HTTPTransport {
    let limit: Int
    let sizes = Mutex<[Int]>([])

    init(limit: Int) { self.limit = limit }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      let size = request.address.query?.split(separator: "limit=").last.flatMap { Int($0) } ?? 0
      sizes.withLock { $0.append(size) }
      if size > limit { throw HTTPFailure.tooSlow(request) }
      return HTTPResponse(status: 200, body: Array("[]".utf8))
    }
  }
}
