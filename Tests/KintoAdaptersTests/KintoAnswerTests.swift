import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import KintoAdapters
import SyncModels
import Synchronization
import Testing

@Suite("The meaning of Kinto's answers", .timeLimit(.minutes(10)))
struct KintoAnswerTests {
  struct Meaning: Sendable, CustomTestStringConvertible {
    var status: Int
    var headers: [String: String] = [:]
    var code: SyncError.Code
    var retryAfter: Duration?
    var testDescription: String { "\(status) \(headers)" }
  }

  @Test(arguments: [
    Meaning(status: 400, code: .invalidConfiguration), Meaning(status: 401, code: .authentication),
    Meaning(status: 403, code: .permissionDenied), Meaning(status: 404, code: .invalidConfiguration),
    Meaning(status: 405, code: .invalidConfiguration), Meaning(status: 408, code: .remoteUnavailable),
    Meaning(status: 410, code: .invalidConfiguration), Meaning(status: 412, code: .invalidResponse),
    Meaning(status: 429, headers: ["Retry-After": "7"], code: .remoteUnavailable, retryAfter: .seconds(7)),
    Meaning(status: 500, code: .remoteUnavailable), Meaning(status: 502, code: .remoteUnavailable),
    Meaning(status: 503, headers: ["retry-after": "3"], code: .remoteUnavailable, retryAfter: .seconds(3)),
    Meaning(
      status: 503,
      headers: [
        "Date": "Sat, 21 Nov 2026 09:51:24 GMT", "Retry-After": "Sat, 21 Nov 2026 09:52:04 GMT",
      ], code: .remoteUnavailable, retryAfter: .seconds(40)),
    Meaning(status: 503, headers: ["Retry-After": "soon"], code: .remoteUnavailable),
    Meaning(
      status: 503, headers: ["Retry-After": "99999999999999999999"], code: .remoteUnavailable,
      retryAfter: .seconds(24 * 3600)),
    Meaning(status: 204, code: .invalidResponse), Meaning(status: 304, code: .invalidResponse),
    Meaning(status: 200, code: .invalidResponse),
    Meaning(status: 200, headers: ["ETag": "\"-5\""], code: .invalidResponse),
    Meaning(status: 200, headers: ["ETag": "\"abc\""], code: .invalidResponse),
    Meaning(status: 200, headers: ["ETag": "\"5000\""], code: .invalidResponse),
  ])
  func statusesAndHeadersBecomeErrors(_ meaning: Meaning) async throws {
    var answer = HTTPResponse(status: meaning.status, body: Array(#"{"data":[{"id":"secret"#.utf8))
    for (name, value) in meaning.headers { answer.headers[name] = value }
    let source = try KintoSource.over(ScriptedTransport(answer))
    let error = await #expect(throws: SyncError.self) { try await source.page() }
    #expect(error?.code == meaning.code)
    #expect(error?.retryAfter == meaning.retryAfter)
    #expect(error?.operation == "fetching a page of items")
    #expect(error?.description.contains("secret") == false)
  }

  @Test(arguments: ["Backoff", "Retry-After"])
  func aPauseThatIsAskedForIsKept(_ header: String) async throws {
    let clock = ManualClock()
    var first = HTTPResponse.page()
    if header == "Retry-After" { first = HTTPResponse(status: 503) }
    first.headers[header] = "10"
    let transport = ScriptedTransport(first, .page())
    let source = try KintoSource(
      server: FakeKinto.server, bucket: "b", transport: transport, clock: clock)
    if header == "Backoff" {
      #expect(try await source.page().changes.isEmpty)
    } else {
      await #expect(throws: SyncError.self) { try await source.page() }
    }
    clock.advance(by: .seconds(4))
    let error = await #expect(throws: SyncError.self) { try await source.page() }
    #expect(error?.code == .remoteUnavailable)
    #expect(error?.retryAfter == .seconds(6))
    #expect(transport.requests.count == 1)
    clock.advance(by: .seconds(6))
    #expect(try await source.page().changes.isEmpty)
    #expect(transport.unread == 0)
  }

  @Test func aBackoffDoesNotCostThePageItCameWith() async throws {
    let transport = ScriptedTransport(
      .page(
        #"{"id":"a","last_modified":1}"#,
        ["Backoff": "10", "Next-Page": "https://kinto.test/v1/buckets/b/collections/items/records?_token=1"]))
    #expect(try await KintoSource.over(transport, counting: true).page().changes.count == 1)
    #expect(transport.requests.count == 1)
  }

  @Test func alertsArePassedOnOnce() async throws {
    let alerts = Mutex<[String]>([])
    let transport = ScriptedTransport(
      .page("", ["Alert": "one"]), .page("", ["Alert": "one"]), .page(), .page("", ["Alert": "two"]))
    let source = try KintoSource(
      server: FakeKinto.server, bucket: "b", transport: transport,
      onAlert: { text in alerts.withLock { $0.append(text) } })
    for _ in 1...4 { _ = try await source.page() }
    #expect(alerts.withLock { $0 } == ["one", "two"])
  }

  @Test func aRequestIsOneThatKintoKeepsInOrder() async throws {
    let transport = ScriptedTransport(.page(), .page(etag: 6000))
    let source = try KintoSource.over(transport)
    let token = try await source.page(limit: 37).startToken
    _ = try await source.page(.start(since: token), limit: 20_000)
    #expect(
      transport.requests.map(\.address.description) == [
        "https://kinto.test/v1/buckets/b/collections/items/records?_sort=last_modified%2Cid&_limit=37",
        "https://kinto.test/v1/buckets/b/collections/items/records?_sort=last_modified%2Cid&_since=0&_limit=10000",
      ])
  }
}
