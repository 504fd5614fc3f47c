import CanonicalSyncTestServers
import HTTPAdapters
import KintoAdapters
import SyncModels
import Testing

@Suite("The collections of a Kinto bucket", .timeLimit(.minutes(10)))
struct KintoCollectionsTests {
  private static let collections = "https://kinto.test/v1/buckets/b/collections"

  @Test func comeFromAllPagesByName() async throws {
    let transport = ScriptedTransport(
      .page(
        #"{"id":"teams","last_modified":3},{"id":"Games","last_modified":4}"#,
        ["Next-Page": "\(Self.collections)?_sort=last_modified%2Cid&_token=1"]),
      .page(#"{"id":"a-b","last_modified":5}"#))
    let found = try await KintoSource.over(transport).collections()
    #expect(found == ["Games", "a-b", "teams"])
    #expect(transport.requests.map(\.address.path) == Array(repeating: "/v1/buckets/b/collections", count: 2))
  }

  @Test(arguments: [
    "https://evil.test/v1/buckets/b/collections?_token=1",
    "\(collections)?_sort=last_modified%2Cid", "\(collections)/x/records?_token=1",
  ])
  func aNextPageThatLeadsNowhereOrElsewhereIsRefused(_ next: String) async throws {
    let page = HTTPResponse.page(#"{"id":"a","last_modified":1}"#, ["Next-Page": next])
    let transport = ScriptedTransport(page, page, page)
    let error = await #expect(throws: SyncError.self) {
      try await KintoSource.over(transport, credentials: .bearer("secret")).collections()
    }
    #expect(error?.code == .invalidResponse)
    #expect(transport.requests.count <= 2)
  }

  @Test func aRefusalIsAnError() async throws {
    let transport = ScriptedTransport(HTTPResponse(status: 403))
    let error = await #expect(throws: SyncError.self) {
      try await KintoSource.over(transport).collections()
    }
    #expect(error?.code == .permissionDenied)
  }

  private static let missing = HTTPResponse(
    status: 404, body: Array(#"{"errno":111,"details":{"id":"items","resource_name":"collection"}}"#.utf8))

  private func source(_ answers: HTTPResponse...) throws -> KintoSource {
    var options = KintoSource.Options()
    options.countsRecords = false
    options.missingCollectionsAreEmpty = true
    return try KintoSource(
      server: FakeKinto.server, bucket: "b", options: options, transport: ScriptedTransport(answers))
  }

  @Test func oneThatIsMissingCountsAsEmptyWhereThatIsAskedFor() async throws {
    let page = try await source(Self.missing).page()
    #expect(page.changes.isEmpty)
    #expect(page.coverage == .full)
    #expect(page.next == .done(nil))
    #expect(page.startToken == nil)
    let since = try await source(Self.missing).page(
      .start(since: SyncToken("kinto1 count=7 etag=5000 since=5000")))
    #expect(since.next == .reset(.remoteReplaced))
    let found = try await source(Self.missing).lookup(
      [RecordID(type: "items", key: "a")], of: Entity("items"))
    #expect(found.isEmpty)
  }

  @Test(arguments: [
    HTTPResponse(status: 404), HTTPResponse(status: 404, body: Array("<html>Not found</html>".utf8)),
    HTTPResponse(
      status: 404, body: Array(#"{"errno":111,"details":{"id":"b","resource_name":"bucket"}}"#.utf8)),
  ])
  func anyOther404IsAnError(_ answer: HTTPResponse) async throws {
    let error = await #expect(throws: SyncError.self) { try await source(answer).page() }
    #expect(error?.code == .invalidConfiguration)
  }
}
