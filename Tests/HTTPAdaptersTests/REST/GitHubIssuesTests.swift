import CanonicalSync
import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import InMemoryAdapters
import Synchronization
import Testing

@Suite("GitHub's issues, as the guide describes them", .timeLimit(.minutes(10)))
struct GitHubIssuesTests {
  /// An API that refuses what GitHub refuses.
  private final class Hub: HTTPTransport {
    struct Issue {
      var title: String
      var updated: String
      var isPullRequest = false
    }
    struct State {
      var issues: [Int: Issue] = [:]
      /// Where transferred issues are.
      var moved: Set<Int> = []
      /// The requests that are left until the limit's end.
      var remaining = 5000
      var requests: [HTTPRequest] = []
    }
    let state = Mutex(State())
    let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    func put(_ number: Int, _ title: String, isPullRequest: Bool = false) {
      clock.advance(by: .seconds(1))
      let updated = time
      state.withLock {
        $0.issues[number] = Issue(title: title, updated: updated, isPullRequest: isPullRequest)
      }
    }

    private var time: String {
      Date(timeIntervalSince1970: Double(clock.timestamp.microseconds) / 1e6).ISO8601Format()
    }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      let reset = clock.timestamp.microseconds / 1_000_000 + 600
      return state.withLock { state in
        state.requests.append(request)
        func answer(_ json: String, _ status: Int = 200, _ headers: HTTPHeaders = [:]) -> HTTPResponse {
          var headers = headers
          headers["Date"] = HTTPDateText.text(clock.timestamp.microseconds / 1000)
          headers["X-RateLimit-Remaining"] = "\(state.remaining)"
          headers["X-RateLimit-Reset"] = "\(reset)"
          headers["Content-Type"] = "application/json; charset=utf-8"
          return HTTPResponse(status: status, headers: headers, body: Array(json.utf8))
        }
        // https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api
        guard request.headers["User-Agent"]?.isEmpty == false else {
          return answer("Request forbidden by administrative rules.", 403)
        }
        guard request.headers["Authorization"] == "Bearer ghp" else {
          return answer(#"{"message":"Bad credentials"}"#, 401)
        }
        guard state.remaining > 0 else { return answer(#"{"message":"API rate limit exceeded"}"#, 403) }
        state.remaining -= 1
        guard request.headers["X-GitHub-Api-Version"] == "2022-11-28" else { return answer("{}", 400) }
        let path = request.address.path.replacing("/repos/apple/swift/", with: "")
        if path == "issues", request.method == "POST" {
          let number = (state.issues.keys.max() ?? 0) + 1
          state.issues[number] = Issue(title: Self.title(request) ?? "", updated: time)
          return answer(Self.json(number, state.issues[number]), 201)
        }
        if path == "issues" { return list(request, state, answer) }
        guard let number = Int(path.replacing("issues/", with: "")) else { return answer("{}", 404) }
        if state.moved.contains(number) {
          return answer("", 301, ["Location": "/repositories/7/issues/1"])
        }
        if path.hasPrefix("/repositories") {
          return answer(#"{"number":1,"title":"elsewhere","updated_at":"2026-01-01T00:00:00Z"}"#)
        }
        guard let issue = state.issues[number] else {
          return answer(#"{"message":"This issue was deleted"}"#, 410)
        }
        guard request.method == "PATCH" else { return answer(Self.json(number, issue)) }
        guard let title = Self.title(request), !title.isEmpty else {
          return answer(#"{"message":"Validation Failed","errors":[{"field":"title"}]}"#, 422)
        }
        state.issues[number]?.title = title
        state.issues[number]?.updated = time
        return answer(Self.json(number, state.issues[number]))
      }
    }

    private func list(
      _ request: HTTPRequest, _ state: State, _ answer: (String, Int, HTTPHeaders) -> HTTPResponse
    ) -> HTTPResponse {
      var query: [String: String] = [:]
      for item in URLComponents(string: "\(request.address)")?.queryItems ?? [] {
        query[item.name] = item.value
      }
      guard query["state"] == "all", let size = query["per_page"].flatMap({ Int($0) }), size <= 100 else {
        return answer("{}", 422, [:])
      }
      let since = query["since"].map { String($0.prefix(19)) + "Z" } ?? ""
      let all = state.issues.filter { $0.value.updated >= since }.sorted { $0.key < $1.key }
      let page = query["page"].flatMap { Int($0) } ?? 1
      let rows = all.dropFirst((page - 1) * size).prefix(size).map { Self.json($0.key, $0.value) }
      var headers: HTTPHeaders = [:]
      if page * size < all.count {
        query["page"] = "\(page + 1)"
        let pairs = query.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        headers["Link"] = "<https://api.github.com/repos/apple/swift/issues?\(pairs)>; rel=\"next\""
      }
      return answer("[\(rows.joined(separator: ","))]", 200, headers)
    }

    private static func title(_ request: HTTPRequest) -> String? {
      (try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])?["title"] as? String
    }

    private static func json(_ number: Int, _ issue: Issue?) -> String {
      guard let issue else { return "null" }
      let pull = issue.isPullRequest ? ",\"pull_request\":{}" : ""
      return
        "{\"id\":\(9_000_000_000 + number),\"number\":\(number),\"title\":\"\(issue.title)\",\"updated_at\":\"\(issue.updated)\"\(pull)}"
    }
  }

  @Test func areMirroredAndEdited() async throws {
    setenv("GITHUB_TOKEN", "ghp", 1)
    let text = try #require(try RESTDescriptionTests.guide().first { $0.contains("api.github.com") })
    let api = try RESTAPI(json: Array(text.utf8), named: "api.json")
    let (clock, store) = (ManualClock(), InMemoryStore())
    let hub = Hub(clock)
    func engine() async throws -> SyncEngine {
      let source = try RESTSource(api, transport: hub, clock: clock)
      return try await SyncEngine(
        schema: api.schema, store: store, source: source, sink: RESTSink(source), clock: clock,
        options: SyncOptions(retry: RetryPolicy(attempts: 1)))
    }
    func titles() -> [String: String] {
      var titles: [String: String] = [:]
      for record in store.records(of: "issues") {
        let json = try? JSONSerialization.jsonObject(with: Data(record.payload.bytes)) as? [String: Any]
        titles[record.id.key] = json?["title"] as? String
      }
      return titles
    }
    func expectEqual() {
      let live = hub.state.withLock { state in
        state.issues.filter { !$0.value.isPullRequest && !state.moved.contains($0.key) }
      }
      let (mine, theirs) = (titles(), Dictionary(uniqueKeysWithValues: live.map { ("\($0)", $1.title) }))
      #expect(Set(mine.keys).union(theirs.keys).filter { mine[$0] != theirs[$0] } == [])
    }
    for number in 1...250 { hub.put(number, "t\(number)", isPullRequest: number % 10 == 0) }

    // The limit ends the first listing in its middle, and a later process goes on.
    hub.state.withLock { $0.remaining = 2 }
    let error = await #expect(throws: SyncError.self) { _ = try await engine().sync() }
    #expect(error?.code == .remoteUnavailable && error?.retryAfter == .seconds(600))
    let asked = hub.state.withLock { $0.requests.count }
    _ = try? await engine().sync()
    #expect(hub.state.withLock { $0.requests.count } == asked, "A pause outlives the process.")
    clock.advance(by: .seconds(601))
    hub.state.withLock { $0.remaining = 5000 }
    _ = try await engine().sync()
    expectEqual()
    #expect(hub.state.withLock { $0.requests.count } - asked <= 2, "It goes on at the page where it stopped.")

    // Changes, an issue that has become a pull request, and edits of our own.
    clock.advance(by: .seconds(600))
    hub.put(7, "new title")
    hub.put(8, "t8", isPullRequest: true)
    hub.put(251, "late")
    let edits = try await engine().edits
    try await edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "issues", key: "9")) { $0["title"] = Array("\"ours\"".utf8)[...] }
      try batch.set(RecordID(type: "issues", key: "3")) { $0["title"] = Array("\"\"".utf8)[...] }
      try batch.set(RecordID(type: "issues", key: "own")) { $0["title"] = Array("\"made\"".utf8)[...] }
    }
    _ = try await engine().sync()
    #expect(hub.state.withLock { $0.issues[9]?.title } == "ours")
    #expect(hub.state.withLock { $0.issues.values.count { $0.title == "made" } } == 1)
    // As an issue has gone, what was refused is tried once more.
    _ = try await engine().sync()
    let refused = try await edits.pending("issues")
    guard case .refused(let reason, _)? = refused.first?.state else {
      Issue.record("\(refused)")
      return
    }
    #expect(reason.contains("422") && reason.contains("Validation Failed"))
    try await edits.discard(RecordID(type: "issues", key: "3"))
    _ = try await engine().sync()
    expectEqual()

    // A transferred and a deleted issue are found by the daily listing.
    clock.advance(by: .seconds(25 * 3600))
    hub.state.withLock { state in
      state.moved.insert(11)
      state.issues[12] = nil
    }
    hub.state.withLock { $0.issues[11] = nil }
    _ = try await engine().sync()
    expectEqual()
    #expect(titles().values.contains("elsewhere") == false)
    #expect(
      hub.state.withLock {
        $0.requests.allSatisfy { $0.headers["User-Agent"]?.contains("CanonicalSync/") == true }
      })
  }
}
