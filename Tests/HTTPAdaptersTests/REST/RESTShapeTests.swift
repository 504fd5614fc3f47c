import CanonicalSync
import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

/// One API for each shape that lists have, with changes, deletions, and an answer that is lost.
@Suite("The shapes of lists", .timeLimit(.minutes(10)))
struct RESTShapeTests {
  /// A device, and the API that it mirrors.
  private final class World: Sendable {
    let api = FakeREST()
    let store = InMemoryStore()
    let clock = ManualClock()
    let alerts = Mutex<[String]>([])
    let types: String
    let isCut = Mutex<Set<Int>>([])
    let state: Mutex<[String: String]>

    /// - Parameter answer: The body for a path with its query; `nil` for a 404.
    init(
      _ types: String, state: [String: String] = [:],
      status: @escaping @Sendable (HTTPRequest) -> Int? = { _ in nil },
      headers: @escaping @Sendable (HTTPRequest) -> HTTPHeaders = { _ in [:] },
      _ answer: @escaping @Sendable (HTTPRequest, [String: String]) -> String?
    ) {
      self.types = types
      self.state = Mutex(state)
      api.onRequest { [unowned self] request in
        let count = self.api.requests.count
        if self.isCut.withLock({ $0.remove(count) }) != nil { return HTTPResponse(status: 503) }
        var head = headers(request)
        head["Date"] = HTTPDateText.text(self.clock.timestamp.microseconds / 1000)
        if let status = status(request) { return HTTPResponse(status: status, headers: head) }
        let state = self.state.withLock { $0 }
        guard let body = answer(request, state) else { return HTTPResponse(status: 404, headers: head) }
        return HTTPResponse(status: 200, headers: head, body: Array(body.utf8))
      }
    }

    func engine() async throws -> SyncEngine {
      let json = #"{"base":"https://api.test/v1/","headers":{"Api-Version":"2"},"types":{\#(types)}}"#
      let description = try RESTAPI(json: Array(json.utf8), named: "api.json")
      let source = try RESTSource(
        description, transport: api, clock: clock,
        onAlert: { [unowned self] alert in self.alerts.withLock { $0.append(alert) } })
      return try await SyncEngine(
        schema: description.schema, store: store, source: source, clock: clock,
        options: SyncOptions(retry: RetryPolicy(attempts: 1)))
    }

    /// Syncs by an engine of its own, as a process that starts.
    @discardableResult
    func sync() async throws -> SyncResult { try await engine().sync() }

    func keys(_ type: RecordType) -> [String] { store.records(of: type).map(\.id.key).sorted() }

    func text(_ type: RecordType, _ key: String) -> String? {
      store.records(of: type).first { $0.id.key == key }.map {
        String(decoding: $0.payload.bytes, as: UTF8.self)
      }
    }

    var paths: [String] {
      api.requests.map { $0.address.description.replacing("https://api.test/v1/", with: "") }
    }
  }

  private static func parameter(_ name: String, _ request: HTTPRequest) -> String? {
    for item in (request.address.query ?? "").split(separator: "&") where item.hasPrefix("\(name)=") {
      return String(item.dropFirst(name.count + 1)).removingPercentEncoding
    }
    return nil
  }

  // MARK: Under a parent

  private static let under =
    #""projects":{"path":"projects"},"tasks":{"path":"projects/{project}/tasks","under":{"type":"projects","parameter":"project","as":"/project_id"}}"#

  private func projects(status: @escaping @Sendable (HTTPRequest) -> Int? = { _ in nil }) -> World {
    World(
      Self.under,
      state: [
        "projects": #"[{"id":"a/b"},{"id":"c"},{"id":"d"}]"#, "projects/a%2Fb/tasks": #"[{"id":1},{"id":2}]"#,
        "projects/c/tasks": "[]", "projects/d/tasks": #"[{"id":3,"project_id":"d"}]"#,
      ], status: status
    ) { request, state in state[String(request.address.path.dropFirst("/v1/".count))] }
  }

  @Test func aListUnderEachRecordIsReadAndFollowsIt() async throws {
    let world = projects()
    try await world.sync()
    #expect(world.keys("tasks") == ["1", "2", "3"])
    #expect(world.text("tasks", "1") == #"{"id":1,"project_id":"a/b"}"#)
    #expect(world.text("tasks", "3") == #"{"id":3,"project_id":"d"}"#)
    world.state.withLock { state in
      state["projects"] = #"[{"id":"c"},{"id":"d"}]"#
      state["projects/c/tasks"] = #"[{"id":4}]"#
      state["projects/d/tasks"] = nil
    }
    for _ in 1...3 { try await world.sync() }
    #expect(world.keys("projects") == ["c", "d"])
    #expect(world.keys("tasks") == ["4"])
  }

  @Test func aPassUnderParentsResumesWhereItStopped() async throws {
    let world = projects()
    world.isCut.withLock { $0 = [4] }  // the list under d
    _ = try? await world.sync()
    #expect(world.keys("tasks") == ["1", "2"])
    let before = world.api.requests.count
    try await world.sync()
    #expect(world.keys("tasks") == ["1", "2", "3"])
    #expect(!world.paths[before...].contains("projects/a%2Fb/tasks"))
  }

  @Test func aListThatMayNotBeReadStaysAsItIsAndIsTold() async throws {
    let isClosed = Mutex(false)
    let world = projects { request in
      isClosed.withLock { $0 } && request.address.path.hasSuffix("a%2Fb/tasks") ? 403 : nil
    }
    try await world.sync()
    isClosed.withLock { $0 = true }
    world.state.withLock { $0["projects/d/tasks"] = "[]" }
    for _ in 1...3 { try await world.sync() }
    #expect(world.keys("tasks") == ["1", "2"])
    #expect(world.alerts.withLock { $0.contains { $0.contains("403") && $0.contains("a/b") } })
  }

  @Test func onlyListsUnderChangedRecordsAreAskedFor() async throws {
    let isClosed = Mutex(false)
    let world = World(
      Self.under.replacing(#""path":"projects"}"#, with: #""path":"projects","version":"/v"}"#)
        .replacing(#""as":"/project_id""#, with: #""as":"/project_id","changed":true"#),
      state: [
        "projects": #"[{"id":"a/b","v":1},{"id":"c","v":1},{"id":"d","v":1}]"#,
        "projects/a%2Fb/tasks": #"[{"id":1},{"id":2}]"#, "projects/c/tasks": #"[{"id":5,"project_id":"c"}]"#,
        "projects/d/tasks": #"[{"id":3}]"#,
      ],
      status: { request in
        isClosed.withLock { $0 } && request.address.path.hasSuffix("d/tasks") ? 403 : nil
      }
    ) { request, state in state[String(request.address.path.dropFirst("/v1/".count))] }
    func asked() async throws -> [String] {
      let before = world.api.requests.count
      _ = try? await world.sync()
      return Array(world.paths[before...].dropFirst())
    }
    let all = ["projects/a%2Fb/tasks", "projects/c/tasks", "projects/d/tasks"]
    #expect(try await asked() == all)
    #expect(try await asked() == [])
    #expect(try await asked() == [])
    // One has changed, and its list has lost a record and got another.
    world.state.withLock { state in
      state["projects"] = #"[{"id":"a/b","v":2},{"id":"c","v":1},{"id":"d","v":1}]"#
      state["projects/a%2Fb/tasks"] = #"[{"id":2},{"id":4}]"#
    }
    #expect(try await asked() == ["projects/a%2Fb/tasks"])
    #expect(world.keys("tasks") == ["2", "3", "4", "5"])
    #expect(try await asked() == [])
    // A pass that stops resumes, and what changes meanwhile is asked for by the next one.
    world.state.withLock { state in
      state["projects"] = #"[{"id":"a/b","v":3},{"id":"c","v":2},{"id":"d","v":1}]"#
      state["projects/c/tasks"] = #"[{"id":6}]"#
    }
    world.isCut.withLock { $0 = [world.api.requests.count + 3] }
    #expect(try await asked() == ["projects/a%2Fb/tasks", "projects/c/tasks"])
    world.state.withLock { state in
      state["projects"] = #"[{"id":"a/b","v":4},{"id":"c","v":2},{"id":"d","v":1}]"#
      state["projects/a%2Fb/tasks"] = #"[{"id":7}]"#
    }
    #expect(try await asked() == ["projects/c/tasks"])
    #expect(try await asked() == ["projects/a%2Fb/tasks"])
    #expect(world.keys("tasks") == ["3", "6", "7"])
    #expect(try await asked() == [])
    // A list that could not be read is asked for again.
    isClosed.withLock { $0 = true }
    world.state.withLock { state in
      state["projects"] = #"[{"id":"c","v":2},{"id":"d","v":2}]"#
      state["projects/d/tasks"] = #"[{"id":8}]"#
    }
    #expect(try await asked() == ["projects/d/tasks"])
    #expect(world.keys("tasks") == ["3", "6", "7"])
    isClosed.withLock { $0 = false }
    #expect(try await asked() == ["projects/d/tasks"])
    #expect(world.keys("projects") == ["c", "d"])
    #expect(world.keys("tasks") == ["6", "8"])
    _ = try await asked()
    #expect(try await asked() == [])
  }

  @Test func keysWithinAParentAreJoined() async throws {
    let world = World(
      Self.under.replacing(#""as":"/project_id""#, with: #""as":"/project_id","keys":"within""#),
      state: ["projects": #"[{"id":"a/b"},{"id":"c"}]"#]
    ) { request, state in
      request.address.path.hasSuffix("tasks") ? #"[{"id":1}]"# : state["projects"]
    }
    try await world.sync()
    #expect(world.keys("tasks") == ["a~1b/1", "c/1"])
  }

  // MARK: Lists

  @Test func aListIsReadForEachValue() async throws {
    let world = World(
      #""games":{"path":"games/{league}","each":{"parameter":"league","values":["mlb","nhl"]},"paging":{"next":"/next"},"records":"/data"}"#,
      state: [
        "/v1/games/mlb": #"{"data":[{"id":1}],"next":"/v1/more"}"#, "/v1/more": #"{"data":[{"id":2}]}"#,
        "/v1/games/nhl": #"{"data":[{"id":3}]}"#,
      ]
    ) { request, state in state[request.address.path] }
    world.isCut.withLock { $0 = [2] }
    _ = try? await world.sync()
    try await world.sync()
    #expect(world.keys("games") == ["1", "2", "3"])
    world.state.withLock { $0["/v1/more"] = #"{"data":[]}"# }
    for _ in 1...2 { try await world.sync() }
    #expect(world.keys("games") == ["1", "3"])
  }

  @Test func recordsAreFoundInsideEachElement() async throws {
    let world = World(
      #""games":{"path":"days","records":"/days/*/games"},"nodes":{"path":"edges","records":"/edges/*/node"}"#,
      state: [
        "/v1/days": #"{"days":[{"games":[{"id":1},{"id":2}]},{},{"games":[]},{"games":[{"id":3}]}]}"#,
        "/v1/edges": #"{"edges":[{"node":{"id":"x"}},{"node":null},{"node":{"id":"y"}}]}"#,
      ]
    ) { request, state in state[request.address.path] }
    try await world.sync()
    #expect(world.keys("games") == ["1", "2", "3"])
    #expect(world.keys("nodes") == ["x", "y"])
    world.state.withLock { $0["/v1/days"] = #"{"days":[{"sports":[]},{"sports":[]}]}"# }
    _ = try? await world.sync()
    #expect(world.alerts.withLock { $0.contains { $0.contains("/days/*/games") } })
  }

  @Test func onlySomeElementsAreRecords() async throws {
    let world = World(
      #""games":{"path":"feed","where":{"pointer":"/kind","equals":"game"},"version":"/v","delta":{"since":"since","format":"seconds"}}"#,
      state: [
        "all": #"[{"id":1,"kind":"game","v":1},{"id":2,"kind":"ad"},{"id":3,"kind":"game","v":1}]"#,
        "since": "[]",
      ]
    ) { request, state in Self.parameter("since", request) == nil ? state["all"] : state["since"] }
    try await world.sync()
    #expect(world.keys("games") == ["1", "3"])
    // A record that is none any more goes at once.
    world.state.withLock { $0["since"] = #"[{"id":3,"kind":"ad","v":2}]"# }
    try await world.sync()
    #expect(world.keys("games") == ["1"])
    let there = World(#""games":{"path":"feed","where":{"pointer":"/score","exists":true}}"#) { _, _ in
      #"[{"id":1,"score":0},{"id":2,"score":null},{"id":3}]"#
    }
    try await there.sync()
    #expect(there.keys("games") == ["1"])
  }

  @Test func aKeyMayHaveSeveralParts() async throws {
    let world = World(#""days":{"path":"days","id":["/user","/day"]}"#) { _, _ in
      #"[{"user":7,"day":"a/b"},{"user":"x~y","day":"c"}]"#
    }
    try await world.sync()
    #expect(world.keys("days") == ["7/a~1b", "x~0y/c"])
  }

  // MARK: Pages

  @Test func theLastRecordTellsTheNextPage() async throws {
    let world = World(
      #""items":{"path":"items","records":"/data","paging":{"after":"/id","parameter":"starting_after","more":"/has_more"}}"#
    ) { request, _ in
      switch Self.parameter("starting_after", request) {
      case nil: #"{"data":[{"id":"a"},{"id":"b"}],"has_more":true}"#
      case "b": #"{"data":[{"id":"c"}],"has_more":false}"#
      default: nil
      }
    }
    try await world.sync()
    #expect(world.keys("items") == ["a", "b", "c"])
    #expect(world.paths == ["items", "items?starting_after=b"])
  }

  @Test func aCursorMayBeSentFirstAndComeInAHeader() async throws {
    let world = World(
      #""items":{"path":"items","paging":{"cursor":{"header":"X-Next-Cursor"},"parameter":"cursor","first":"*"}}"#,
      headers: { Self.parameter("cursor", $0) == "*" ? ["X-Next-Cursor": "two"] : [:] }
    ) { request, _ in
      switch Self.parameter("cursor", request) {
      case "*": #"[{"id":1}]"#
      case "two": #"[{"id":2}]"#
      default: "[]"
      }
    }
    try await world.sync()
    #expect(world.keys("items") == ["1", "2"])
  }

  @Test func oneParameterMayBeCursorAndToken() async throws {
    let changes = Mutex((1...5).map { (seq: $0, id: "r\($0)", isDeleted: false) })
    let world = World(
      #""docs":{"path":"_changes","records":"/results","deleted":"/deleted","paging":{"cursor":"/last_seq","parameter":"since","more":"/pending"},"delta":{"token":"/last_seq","parameter":"since"},"pageSize":{"parameter":"limit","maximum":2},"query":{"include_docs":"true"}}"#
    ) { request, _ in
      let since = Int(Self.parameter("since", request) ?? "0") ?? 0
      let all = changes.withLock { $0 }.filter { $0.seq > since }
      let page = all.prefix(Int(Self.parameter("limit", request) ?? "") ?? 100)
      let rows = page.map {
        "{\"id\":\"\($0.id)\",\"seq\":\($0.seq)\($0.isDeleted ? ",\"deleted\":true" : "")}"
      }
      return
        "{\"results\":[\(rows.joined(separator: ","))],\"last_seq\":\"\(page.last?.seq ?? since)\",\"pending\":\(all.count - page.count)}"
    }
    try await world.sync()
    #expect(world.keys("docs") == ["r1", "r2", "r3", "r4", "r5"])
    changes.withLock {
      $0.removeAll { $0.id == "r2" }; $0.append((6, "r2", true)); $0.append((7, "r6", false))
    }
    let before = world.api.requests.count
    try await world.sync()
    #expect(world.keys("docs") == ["r1", "r3", "r4", "r5", "r6"])
    #expect(world.paths[before...].first?.contains("since=5") == true)
  }

  // MARK: Time

  @Test func changesAreAskedForInSpansOfTime() async throws {
    let world = World(
      #""items":{"path":"items","version":"/at","delta":{"since":"from","until":"to","window":86400,"overlap":60,"start":"2025-12-30T00:00:00Z"}}"#,
      state: ["items": "2025-12-30T05:00:00Z 2025-12-31T06:00:00Z 2025-12-31T23:59:30Z"]
    ) { request, state in
      let (from, to) = (Self.parameter("from", request) ?? "", Self.parameter("to", request) ?? "")
      let rows = (state["items"] ?? "").split(separator: " ").enumerated().filter { $1 >= from && $1 < to }
        .map { "{\"id\":\($0),\"at\":\"\($1)\"}" }
      return "[\(rows.joined(separator: ","))]"
    }
    let now = world.clock.timestamp  // 2026-01-01
    try await world.sync()
    #expect(world.keys("items") == ["0", "1", "2"])
    let spans = world.api.requests.compactMap { request -> (from: Timestamp, to: Timestamp)? in
      guard let from = Self.parameter("from", request).flatMap({ Timestamp(iso8601: $0) }),
        let to = Self.parameter("to", request).flatMap({ Timestamp(iso8601: $0) })
      else { return nil }
      return (from, to)
    }
    #expect(spans.first?.from == Timestamp(iso8601: "2025-12-30T00:00:00Z"))
    #expect(spans.last?.to == now)
    for (span, next) in zip(spans, spans.dropFirst()) { #expect(next.from == span.to - .seconds(60)) }
    for span in spans { #expect(span.to.duration(since: span.from) <= .seconds(86_400)) }
    world.clock.advance(by: .seconds(3600))
    world.state.withLock { $0["items"]? += " 2026-01-01T00:30:00Z" }
    try await world.sync()
    #expect(world.keys("items") == ["0", "1", "2", "3"])
  }

  @Test func aTimeMayHaveAnotherLayoutInsideAText() async throws {
    let world = World(
      #""rows":{"path":"rows","version":"/at","delta":{"since":"updated","template":"gte.{since}","layout":"yyyy-MM-dd HH:mm:ss"}}"#
    ) { _, _ in #"[{"id":1,"at":"2026-01-01T00:00:00Z"}]"# }
    try await world.sync()
    try await world.sync()
    #expect(world.paths.last == "rows?updated=gte.2025-12-31%2023%3A59%3A30")
  }

  @Test(arguments: [
    ("number", #""1503435956.000247""#, #""1503435956.000248""#), ("number", "9", "10.5"),
    ("rfc2822", #""Tue, 18 Aug 2015 20:05:00 -0000""#, #""18 Aug 2015 20:05:01 GMT""#),
    ("yyyy-MM-dd HH:mm:ss", #""2015-08-18 20:05:00""#, #""2015-08-18 20:05:01""#), ("seconds", #""5""#, "6"),
    ("milliseconds", "5", #""6""#),
  ])
  func versionsMayBeNoTimeInISO8601(_ layout: String, _ older: String, _ newer: String) async throws {
    let world = World(
      #""items":{"path":"items","version":{"pointer":"/ts","layout":"\#(layout)"}}"#, state: ["ts": newer]
    ) { _, state in
      "[{\"id\":1,\"ts\":\(state["ts"] ?? "")}]"
    }
    try await world.sync()
    world.state.withLock { $0["ts"] = older }
    try await world.sync()
    #expect(world.text("items", "1") == "{\"id\":1,\"ts\":\(newer)}")
    #expect(world.store.records(of: "items").first?.version != .unversioned)
  }

  // MARK: Asking

  @Test func aListMayBeAskedForByABody() async throws {
    let world = World(
      #""items":{"path":"graphql","records":"/data/items/nodes","request":{"body":{"query":"{ items }","variables":{"first":50}}},"errors":"/errors","paging":{"cursor":"/data/items/end","parameter":"/variables/after"},"pageSize":{"parameter":"/variables/first","maximum":2}}"#
    ) { request, state in
      if let error = state["error"] { return "{\"data\":null,\"errors\":[\(error)]}" }
      let body = String(decoding: request.body, as: UTF8.self)
      guard request.method == "POST", request.headers["Content-Type"] == "application/json" else {
        return nil
      }
      return body == #"{"query":"{ items }","variables":{"first":2}}"#
        ? #"{"data":{"items":{"nodes":[{"id":1},{"id":2}],"end":"c2"}}}"#
        : body == #"{"query":"{ items }","variables":{"first":2,"after":"c2"}}"#
          ? #"{"data":{"items":{"nodes":[{"id":3}],"end":null}}}"# : nil
    }
    try await world.sync()
    #expect(world.keys("items") == ["1", "2", "3"])
    world.state.withLock { $0["error"] = #"{"message":"no such field"}"# }
    let failures = try await world.sync().failures
    #expect(failures.first?.error.message.contains("no such field") == true)
    #expect(world.keys("items") == ["1", "2", "3"])
    world.state.withLock { $0["error"] = #"{"message":"slow down","extensions":{"code":"THROTTLED"}}"# }
    let busy = await #expect(throws: SyncError.self) { try await world.sync() }
    #expect(busy?.code == .remoteUnavailable)
  }

  @Test func furtherHeadersAreSentAndATypesOwnReplaceThem() async throws {
    let world = World(
      #""a":{"path":"a"},"b":{"path":"b","headers":{"api-version":"3","Accept":"application/vnd.b"}}"#
    ) { _, _ in "[]" }
    try await world.sync()
    let a = world.api.requests.first { $0.address.path == "/v1/a" }
    let b = world.api.requests.first { $0.address.path == "/v1/b" }
    #expect(a?.headers["Api-Version"] == "2" && a?.headers["Accept"] == "application/json")
    #expect(b?.headers["Api-Version"] == "3" && b?.headers["Accept"] == "application/vnd.b")
  }

  @Test(arguments: [
    (#""path":"a/{p}","under":{"type":"items","parameter":"q","as":"/p"}"#, "types.items.path"),
    (#""path":"a","each":{"parameter":"q","values":[]}"#, "types.items.each.values is empty."),
    (#""path":"a","where":{"pointer":"/x"}"#, #"types.items.where lacks "equals""#),
    (#""path":"a","id":[]"#, "types.items.id is empty."),
    (#""path":"a","version":{"pointer":"/x","layout":"noon"}"#, "types.items.version.layout is \"noon\""),
    (#""path":"a","delta":{"since":"s","window":60}"#, "needs \"until\""),
    (#""path":"a","delta":{"since":"s","template":"gte"}"#, "types.items.delta.template lacks {since}"),
    (#""path":"a","delta":{"since":"s","layout":"yyyy-MM-dd HH:mm","overlap":10}"#, "must be 60 or more"),
    (#""path":"a","headers":{"a b":"c"}"#, "is not the name of a header"),
  ])
  func aWrongDescriptionIsToldAtItsPlace(_ members: String, _ complaint: String) throws {
    let json = #"{"base":"https://api.test/v1/","types":{"items":{\#(members)}}}"#
    let error = #expect(throws: SyncError.self) { _ = try RESTAPI(json: Array(json.utf8), named: "api.json") }
    #expect(error?.message.contains(complaint) == true, "\(error?.message ?? "")")
  }
}
