import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("The requests for the pages of a JSON API", .timeLimit(.minutes(10)))
struct RESTPageTests {
  /// Reads one pass.
  private static func pass(
    _ source: RESTSource, since token: SyncToken? = nil, limit: Int = 5
  ) async throws -> (changes: [RecordChange], coverage: RecordPage.Coverage, token: SyncToken?) {
    var position = PullPosition.start(since: token)
    var changes: [RecordChange] = []
    while true {
      let page = try await source.page(
        PageRequest(entity: Entity("items"), position: position, limit: limit, pass: 1))
      changes += page.changes
      switch page.next {
      case .more(let next, _): position = .resume(next)
      case .done(let token): return (changes, page.coverage, token)
      case .reset(let reason): throw SyncError(.invalidResponse, during: "reading a pass", reason.rawValue)
      }
    }
  }

  private static func source(
    _ members: String, _ transport: any HTTPTransport,
    clock: any SyncPorts.Clock<Duration> = ContinuousClock()
  ) throws -> RESTSource {
    let json =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","records":"/data","version":"/updated_at",\#(members)}}}"#
    return try RESTSource(
      RESTAPI(json: Array(json.utf8), named: "api.json"), transport: transport, clock: clock)
  }

  private static func page(_ ids: [Int], _ more: String = "") -> HTTPResponse {
    let rows = ids.map { #"{"id":\#($0),"updated_at":\#($0)}"# }.joined(separator: ",")
    return HTTPResponse(status: 200, body: Array(#"{"data":[\#(rows)]\#(more)}"#.utf8))
  }

  private static func keys(_ changes: [RecordChange]) -> [String] { changes.compactMap(\.id?.key) }

  private static func parameter(_ name: String, _ request: HTTPRequest) -> String? {
    let prefix = "\(name)="
    return request.address.query?.split(separator: "&").first { $0.hasPrefix(prefix) }
      .map { String($0.dropFirst(prefix.count)) }
  }

  @Test(arguments: [#""paging":{"cursor":"/next","parameter":"c"}"#, #""paging":{"next":"/next"}"#])
  func aShortPageIsNotTheLastUnlessTheAnswerSaysSo(_ paging: String) async throws {
    let transport = ScriptedTransport(
      Self.page([1, 2, 3, 4, 5], #","next":"?c=1""#), Self.page([6], #","next":"?c=2""#),
      Self.page([], #","next":"?c=3""#), Self.page([7, 8], #","next":null"#))
    let changes = try await Self.pass(
      Self.source(#"\#(paging),"pageSize":{"parameter":"limit"}"#, transport)
    ).changes
    #expect(Self.keys(changes) == (1...8).map { "\($0)" })
    #expect(transport.unread == 0)
  }

  @Test(arguments: [false, true])
  func numberedPagesEndWithAnEmptyOneOrBeyondTheLast(_ isMissing: Bool) async throws {
    for size in ["", #","pageSize":{"parameter":"limit"}"#] {
      let transport = ScriptedTransport(
        Self.page([1, 2, 3, 4, 5]), Self.page([6, 7]), Self.page([8, 9, 10]),
        isMissing ? HTTPResponse(status: 404) : Self.page([]))
      let changes = try await Self.pass(Self.source(#""paging":{"page":"p","first":0}\#(size)"#, transport))
        .changes
      #expect(Self.keys(changes) == (1...10).map { "\($0)" })
      #expect(transport.requests.map { Self.parameter("p", $0) } == ["0", "1", "2", "3"])
    }
  }

  /// The API gives three records where five are asked for.
  @Test func offsetsAdvanceByWhatArrived() async throws {
    let api = FakeREST()
    api.onRequest { request in
      let offset = Self.parameter("o", request).flatMap { Int($0) } ?? 0
      return Self.page(Array((0..<10).dropFirst(offset).prefix(3)))
    }
    let changes = try await Self.pass(
      Self.source(#""paging":{"offset":"o"},"pageSize":{"parameter":"limit"}"#, api)
    ).changes
    #expect(Self.keys(changes) == (0..<10).map { "\($0)" })
    // Each page begins with the last record of the page before.
    #expect(api.requests.map { Self.parameter("o", $0) } == ["0", "2", "4", "6", "8", "9"])
  }

  @Test func theFirstTokenOfAPassCounts() async throws {
    let transport = ScriptedTransport(
      Self.page([1], #","token":"early","next":"c1""#), Self.page([2], #","token":"late""#),
      Self.page([], #","token":"next""#))
    let source = try Self.source(
      #""paging":{"cursor":"/next","parameter":"c"},"delta":{"token":"/token","parameter":"t"}"#, transport)
    let token = try await Self.pass(source).token
    _ = try await Self.pass(source, since: token)
    #expect(transport.requests.map { Self.parameter("t", $0) } == [nil, nil, "early"])
  }

  @Test(
    arguments: FakeREST.styles.filter { $0.delta != nil && $0.delta != .etag } + [
      FakeREST.Style("tags without pages", delta: .etag)
    ])
  func anUnchangedTypeCostsOneRequest(_ style: FakeREST.Style) async throws {
    let api = FakeREST()
    for number in 0..<12 { api.put("k\(number)", 0) }
    api.pass(60_000)
    let source = try api.source(style)
    let limit = style.paging == nil ? 100 : 5
    var token = try await Self.pass(source, limit: limit).token
    for _ in 1...2 {
      api.pass(60_000)
      let before = api.requests.count
      let again = try await Self.pass(source, since: token, limit: limit)
      #expect(again.changes.isEmpty)
      #expect(api.requests.count == before + 1)
      token = again.token
    }
  }

  @Test func eachTaggedPageIsAskedForOnItsOwnCondition() async throws {
    let api = FakeREST()
    for number in 0..<12 { api.put("k\(number)", 0) }
    let source = try Self.source(
      #""paging":{"next":"/meta/next"},"pageSize":{"parameter":"limit"},"delta":{"etag":true},"item":"items/{id}""#,
      api)
    let token = try await Self.pass(source).token
    let listed = api.requests
    let again = try await Self.pass(source, since: token)
    #expect(again.changes.isEmpty && again.coverage == .delta)
    let conditional = api.requests.dropFirst(listed.count)
    #expect(conditional.map(\.address) == listed.map(\.address))
    #expect(Set(conditional.compactMap { $0.headers["If-None-Match"] }).count == 3)
    // A change of the last page leads to everything, although the first page has not changed.
    api.put("k9", 1)
    let third = try await source.page(
      PageRequest(entity: Entity("items"), position: .start(since: again.token), limit: 5, pass: 1))
    guard case .more(let walk, _) = third.next else {
      Issue.record("Only one page was asked for.")
      return
    }
    let fourth = try await source.page(
      PageRequest(entity: Entity("items"), position: .resume(walk), limit: 5, pass: 1))
    guard case .more(let last, _) = fourth.next else {
      Issue.record("Only two pages were asked for.")
      return
    }
    let fifth = try await source.page(
      PageRequest(entity: Entity("items"), position: .resume(last), limit: 5, pass: 1))
    #expect(fifth.next == .reset(.tokenExpired))
  }

  /// The tag is of the records alone. A page beyond the last one is missing.
  @Test(arguments: [#"{"page":"p","first":0}"#, #"{"link":"next"}"#, #"{"offset":"o"}"#])
  func aPageBehindTheLastTaggedOneIsSeen(_ paging: String) async throws {
    let count = Mutex(10)
    let api = FakeREST()
    api.onRequest { request in
      let all = Array(0..<count.withLock { $0 })
      let page = Self.parameter("p", request).flatMap { Int($0) } ?? 0
      let start = Self.parameter("o", request).flatMap { Int($0) } ?? page * 5
      let ids = Array(all.dropFirst(start).prefix(5))
      if ids.isEmpty { return HTTPResponse(status: 404) }
      let tag = "\"\(start)-\(ids.count)\""
      if request.headers["If-None-Match"] == tag {
        return HTTPResponse(status: 304, headers: ["ETag": tag])
      }
      var answer = Self.page(ids)
      answer.headers["ETag"] = tag
      if start + 5 < all.count { answer.headers["Link"] = "<?p=\(page + 1)>; rel=next" }
      return answer
    }
    let source = try Self.source(#""paging":\#(paging),"delta":{"etag":true},"item":"items/{id}""#, api)
    let token = try await Self.pass(source).token
    let again = try await Self.pass(source, since: token)
    #expect(again.changes.isEmpty && again.coverage == .delta && again.token == token)

    let store = InMemoryStore()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("items")), store: store, source: source)
    for number in 10...12 {
      count.withLock { $0 = number }
      for _ in 1...2 { #expect(try await engine.sync().failures.isEmpty) }
      #expect(store.records(of: "items").count == number)
    }
  }

  /// Deltas show no deletion, so that everything is listed as often as the description says.
  @Test func everythingIsListedAsOftenAsIsWanted() async throws {
    let api = FakeREST(keepsDeleted: false)
    api.put("k1", 1)
    let clock = ManualClock(timestamp: Timestamp(milliseconds: 1_700_000_000_000))
    let source = try Self.source(
      #""paging":{"next":"/meta/next"},"delta":{"since":"updated_since","format":"milliseconds"},"sweepEvery":3600"#,
      api, clock: clock)
    var token = try await Self.pass(source).token
    for (minutes, coverage) in [
      (30, RecordPage.Coverage.delta), (29, .delta), (2, .full), (30, .delta),
    ] {
      clock.advance(by: .seconds(60 * minutes))
      let pass = try await Self.pass(source, since: token)
      #expect(pass.coverage == coverage)
      token = pass.token
    }
  }

  @Test(arguments: [0, 4_000_000_000_000] as [Int64])
  func deltasStartFromTheServersTimeWhateverOursIs(_ ours: Int64) async throws {
    let api = FakeREST()
    api.put("k1", 1)
    let clock = ManualClock(timestamp: Timestamp(milliseconds: ours))
    let source = try Self.source(
      #""paging":{"next":"/meta/next"},"delta":{"since":"updated_since","format":"seconds","overlap":7}"#,
      api,
      clock: clock)
    let token = try await Self.pass(source).token
    _ = try await Self.pass(source, since: token)
    #expect(api.requests.last.flatMap { Self.parameter("updated_since", $0) } == "1699999993")
  }

  // MARK: Writes

  /// Another client writes between the look and the write.
  @Test(arguments: ["etag", "version"], [true, false])
  func aWriteBetweenTheLookAndOursIsAConflictWithTheServersCopy(
    _ precondition: String, _ isDeletion: Bool
  ) async throws {
    // A deletion has no body, in which a version could be.
    if isDeletion, precondition == "version" { return }
    let api = FakeREST()
    for number in 1...3 { api.put("k\(number)", 0) }
    let source = try Self.source(
      #""deleted":"/deleted","paging":{"next":"/meta/next"},"push":{"write":"PUT items/{id}","delete":"DELETE items/{id}","precondition":"\#(precondition)"}"#,
      api)
    let store = InMemoryStore()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("items")), store: store, source: source, sink: RESTSink(source))
    _ = try await engine.sync()
    let id = RecordID(type: "items", key: "k2")
    if isDeletion {
      try await engine.edits.delete(id)
    } else {
      try await engine.edits.upsert(Item(value: 5), key: "k2")
    }
    let isFirst = Mutex(true)
    api.onRequest { request in
      if request.method != "GET",
        isFirst.withLock({ first in
          defer { first = false }; return first
        })
      {
        api.put("k2", 99)
      }
      return nil
    }
    let result = try await engine.sync()
    #expect(result.pushed.conflicts == 1)
    let conflicts = try await engine.edits.conflicts()
    #expect(conflicts.count == 1)
    guard case .upsert(let theirs)? = conflicts.first?.remote else {
      Issue.record("The server's copy is not in the log.")
      return
    }
    #expect(String(decoding: theirs.payload.bytes, as: UTF8.self).contains("\"value\":99"))
    api.onRequest(nil)
    for _ in 1...2 { _ = try await engine.sync() }
    let mirrored = Dictionary(
      uniqueKeysWithValues: store.records(of: "items").map {
        ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
      })
    #expect(mirrored == api.live)
    #expect(try await engine.edits.pending("items").isEmpty)
  }

  private struct Item: SyncedRecord, Encodable {
    static let recordType: RecordType = "items"
    var value: Int
  }
}
