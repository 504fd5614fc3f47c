import CanonicalSyncTestServers
import HTTPAdapters
import KintoAdapters
import SyncModels
import Testing

@Suite("Answers that no Kinto server sends", .timeLimit(.minutes(10)))
struct HostileAnswerTests {
  private static let records = "https://kinto.test/v1/buckets/b/collections/items/records"

  @Test(arguments: [
    "https://evil.test/v1/buckets/b/collections/items/records?_token=1",
    "http://kinto.test/v1/buckets/b/collections/items/records?_token=1",
    "https://kinto.test:444/v1/buckets/b/collections/items/records?_token=1",
    "https://kinto.test@evil.test/v1/buckets/b/collections/items/records?_token=1",
    "https://kinto.test\\@evil.test/v1/buckets/b/collections/items/records?_token=1",
    "//evil.test/v1/buckets/b/collections/items/records?_token=1",
    "https://kinto.test/v1/buckets/other/collections/items/records?_token=1",
    "https://kinto.test/v1/buckets/b/collections/items/records/../../secret/records?_token=1",
    "https://kinto.test/v1/buckets/b/collections/items/records", "", "?_token=1",
  ])
  func aNextPageElsewhereIsRefused(_ next: String) async throws {
    let transport = ScriptedTransport(.page(#"{"id":"a","last_modified":1}"#, ["Next-Page": next]))
    let source = try KintoSource.over(transport, credentials: .bearer("secret"))
    let error = await #expect(throws: SyncError.self) { try await source.page() }
    #expect(error?.code == .invalidResponse)
    #expect(transport.requests.count == 1)
  }

  @Test(arguments: [
    "https://evil.test/", "http://kinto.test/v1/x", "//evil.test/", "https://kinto.test:8443/",
    "javascript:alert(1)", "https://user@kinto.test/", "",
  ])
  func aRedirectElsewhereIsRefused(_ location: String) async throws {
    let transport = ScriptedTransport(HTTPResponse(status: 307, headers: ["Location": location]))
    let source = try KintoSource.over(transport, credentials: .basic(user: "me", password: "secret"))
    let error = await #expect(throws: SyncError.self) { try await source.page() }
    #expect(error?.code == .invalidResponse)
    #expect(transport.requests.allSatisfy { $0.address.origin.description == "https://kinto.test" })
    #expect(transport.requests.count == 1)
  }

  @Test func aRedirectWithinTheOriginIsFollowedWithTheCredentials() async throws {
    let transport = ScriptedTransport(
      HTTPResponse(status: 308, headers: ["Location": "/v1/elsewhere?a=b"]), .page())
    _ = try await KintoSource.over(transport, credentials: .bearer("secret")).page()
    #expect(transport.requests.last?.address.description == "https://kinto.test/v1/elsewhere?a=b")
    #expect(transport.requests.last?.headers["Authorization"] == "Bearer secret")
  }

  @Test func aCircleOfRedirectsEnds() async throws {
    let circle = HTTPResponse(status: 302, headers: ["Location": "/v1/"])
    let transport = ScriptedTransport(circle, circle, circle, circle, circle, circle)
    let error = await #expect(throws: SyncError.self) { try await KintoSource.over(transport).page() }
    #expect(error?.code == .invalidResponse)
    #expect(transport.requests.count == 4)
  }

  @Test(arguments: [
    #"{"id":"b","last_modified":-1}"#, #"{"id":"b","last_modified":1e999}"#, #"{"id":"b"}"#,
    #"{"id":"b","last_modified":null}"#, #"{"id":"b","last_modified":9223372036854775807}"#,
    #"{"id":"","last_modified":7}"#, #"{"id":[],"last_modified":7}"#, "7",
    #"{"id":"b","last_modified":7,"deep":"# + String(repeating: "[", count: 10_000)
      + String(repeating: "]", count: 10_000) + "}",
  ])
  func whatIsNoRecordIsWithheldAlone(_ element: String) async throws {
    let body = #"{"id":"a","last_modified":1},\#(element),{"id":"c","last_modified":9}"#
    let changes = try await KintoSource.over(ScriptedTransport(.page(body))).page().changes
    #expect(changes.count == 3)
    guard case .malformed(let malformed) = changes[1] else {
      Issue.record("It was read as a record.")
      return
    }
    #expect(Array(malformed.bytes.bytes) == Array(element.utf8))
    #expect(changes.compactMap(\.id?.key).contains("c"))
  }

  @Test func deletedBesideOtherMembersIsTheAppsOwn() async throws {
    let elements = [
      #"{"id":"a","last_modified":1,"deleted":true}"#,
      #"{"id":"b","last_modified":2,"deleted":true,"value":1}"#,
      #"{"id":"c","last_modified":3,"deleted":false}"#,
    ]
    let changes = try await KintoSource.over(ScriptedTransport(.page(elements.joined(separator: ",")))).page()
      .changes
    let kinds = changes.map { change in
      switch change {
      case .upsert: "record"
      case .tombstone: "tombstone"
      case .malformed: "malformed"
      }
    }
    #expect(kinds == ["tombstone", "record", "record"])
  }

  @Test(arguments: [
    "9223372036854775807", "-9223372036854775808", "99999999999999999999", "-1", "2147483648", "", "two",
  ])
  func aTotalThatIsNoneIsNoTotal(_ total: String) async throws {
    let next = "\(Self.records)?_sort=last_modified%2Cid&_token=1"
    let transport = ScriptedTransport(
      .page(#"{"id":"a","last_modified":1}"#, ["Next-Page": next]),
      HTTPResponse(status: 200, headers: ["ETag": "\"5000\"", "Total-Objects": total]),
      .page(#"{"id":"b","last_modified":2},{"id":"c","last_modified":3,"deleted":true}"#))
    let source = try KintoSource.over(transport, counting: true)
    let page = try await source.page()
    #expect(page.total == nil)
    guard case .more(let token, _) = page.next else {
      Issue.record("There is a next page.")
      return
    }
    #expect(try await source.page(.resume(token)).next == .done(nil))
  }

  @Test(arguments: [
    "kinto1page coverage=changes etag=5000 expected=9223372036854775807 count=9223372036854775807 tombstones=9223372036854775807 modified=1 key=a query=_token%3D1",
    "kinto1page coverage=changes etag=5000 expected=-9223372036854775808 count=1 tombstones=2147483647 modified=1 key=a query=_token%3D1",
    "kinto1page coverage=changes etag=-9223372036854775808 expected=1 count=-9223372036854775808 tombstones=0 modified=-9223372036854775808 key=a query=_token%3D1",
  ])
  func aTokenThatNoRemoteGaveHarmsNothing(_ token: String) async throws {
    let transport = ScriptedTransport(.page(#"{"id":"c","last_modified":3,"deleted":true}"#))
    _ = try? await KintoSource.over(transport).page(.resume(PageToken(token)))
  }

  @Test func aPageThatIsTooLongIsAskedForWithHalfAsMany() async throws {
    let kinto = FakeKinto()
    for key in 0..<40 { kinto.put("k\(key)", key) }
    var options = KintoSource.Options()
    options.countsRecords = false
    // A record has some 50 bytes.
    options.bodyLimit = 600
    let source = try KintoSource(server: FakeKinto.server, bucket: "b", options: options, transport: kinto)
    var keys: [String] = []
    var position: PullPosition? = .start(since: nil)
    while let place = position {
      let page = try await source.page(place, limit: 40)
      keys += page.changes.compactMap(\.id?.key)
      if case .more(let token, _) = page.next { position = .resume(token) } else { position = nil }
    }
    #expect(keys.count == 40)
    #expect(Set(keys).count == 40)
    // 40 and 20 were too many. Later requests begin with the size that fitted.
    #expect(kinto.requests.count == 2 + 4)
  }

  @Test func aRecordThatIsTooLongAloneIsAnError() async throws {
    let kinto = FakeKinto()
    kinto.put("a", 1)
    kinto.put("b", 2)
    var options = KintoSource.Options()
    options.countsRecords = false
    options.bodyLimit = 20
    let source = try KintoSource(server: FakeKinto.server, bucket: "b", options: options, transport: kinto)
    let error = await #expect(throws: SyncError.self) { try await source.page(limit: 2) }
    #expect(error?.code == .invalidResponse)
    #expect(kinto.requests.count == 2)
  }

  @Test(arguments: [#"it's"#, #"\"quoted\""#, #"a\u0000b"#, "../../etc"])
  func anOddIDIsAnIDLikeAnyOther(_ spelling: String) async throws {
    let page = #"{"id":"\#(spelling)","last_modified":5,"value":1e999}"#
    let changes = try await KintoSource.over(ScriptedTransport(.page(page))).page().changes
    guard case .upsert(let record)? = changes.first else {
      Issue.record("It was not read as a record.")
      return
    }
    #expect(Array(record.payload.bytes) == Array(page.utf8))
    #expect(record.entityTag == "5")
  }

  @Test(arguments: [
    "{\"data\":[{\"id\":\"a\",\"last_modified\":1}", "{}", "[]", "{\"data\":{}}", "", "<html>",
    "{\"data\":" + String(repeating: "[", count: 100_000),
    #"{"data":[{"id":"b","last_modified":2},{"id":"a","last_modified":1}]}"#,
    #"{"data":[{"id":"a","last_modified":1},{"id":"a","last_modified":1}]}"#,
  ])
  func aBodyThatIsNoPageIsRefused(_ body: String) async throws {
    var answer = HTTPResponse.page()
    answer.body = Array(body.utf8)
    let error = await #expect(throws: SyncError.self) {
      try await KintoSource.over(ScriptedTransport(answer)).page()
    }
    #expect(error?.code == .invalidResponse)
  }

  @Test func aPageThatComesAgainAndAgainIsRefused() async throws {
    let pages = [1, 2, 3].map { number in
      HTTPResponse.page(
        #"{"id":"a","last_modified":1},{"id":"b","last_modified":2}"#,
        ["Next-Page": "\(Self.records)?_sort=last_modified%2Cid&_token=\(number)"])
    }
    let source = try KintoSource.over(ScriptedTransport(pages[0], pages[1], pages[2]))
    guard case .more(let next, _) = try await source.page().next else {
      Issue.record("There is a next page.")
      return
    }
    let error = await #expect(throws: SyncError.self) { try await source.page(.resume(next)) }
    #expect(error?.code == .invalidResponse)
  }

  @Test func anEmptyPageThatLeadsOnIsRefused() async throws {
    let source = try KintoSource.over(
      ScriptedTransport(.page("", ["Next-Page": "\(Self.records)?_token=1"])))
    let error = await #expect(throws: SyncError.self) { try await source.page() }
    #expect(error?.code == .invalidResponse)
  }

  @Test(arguments: [
    "http://kinto.test/v1", "ftp://kinto.test", "kinto.test", "https://user:secret@kinto.test/v1",
    "https://kinto.test/v1?x", "https://kinto.test/v1#x", "https://", "https://a b/",
  ])
  func anAddressThatIsNoneOrNotEncryptedIsRefusedAtOnce(_ server: String) {
    let error = #expect(throws: SyncError.self) {
      try KintoSource(server: server, bucket: "b", transport: ScriptedTransport())
    }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.description.contains("secret") == false)
  }

  @Test func secretsAreInNoDescription() throws {
    let credentials = HTTPCredentials.basic(user: "me", password: "hunter2")
    var request = HTTPRequest("GET", try #require(HTTPAddress("https://kinto.test/")))
    request.headers["Authorization"] = "Bearer hunter2"
    var dumped = ""
    dump(credentials, to: &dumped)
    dump(request, to: &dumped)
    let source = try KintoSource.over(ScriptedTransport(), credentials: .bearer("hunter2"))
    dump(source, to: &dumped)
    for text in [
      "\(credentials)", String(reflecting: credentials), "\(request)", "\(request.headers)", dumped,
    ] {
      #expect(!text.contains("hunter2"))
      #expect(!text.contains("bWU6aHVudGVyMg"))
    }
    #expect(throws: SyncError.self) {
      try KintoSource.over(ScriptedTransport(), credentials: .bearer("a\r\nHost: evil.test"))
    }
  }

  @Test(.enabled(if: TestTransport.isPresent, "This build has no transport."))
  func credentialsStayWhereTheyBelongToTheLastByte() async throws {
    try await LoopbackServer.with(LoopbackServer.fixed(Self.wire(""))) { other in
      for lure in [
        "Location: \(other.origin)/v1/\r\n",
        "Next-Page: \(other.origin)/v1/buckets/b/collections/items/records?x\r\n",
      ] {
        let status = lure.hasPrefix("Location") ? "307 Temporary Redirect" : "200 OK"
        let body = #"{"data":[{"id":"a","last_modified":1}]}"#
        let answer = Self.wire(body, "ETag: \"5\"\r\n\(lure)", status: status)
        try await LoopbackServer.with(LoopbackServer.fixed(answer)) { server in
          var options = KintoSource.Options()
          options.allowsPlainHTTP = true
          let source = try KintoSource(
            server: "\(server.origin)/v1", bucket: "b", credentials: .bearer("secret"), options: options,
            transport: TestTransport.make())
          let error = await #expect(throws: SyncError.self) { try await source.page() }
          #expect(error?.code == .invalidResponse)
          #expect(server.heads.allSatisfy { $0.contains("Bearer secret") })
        }
      }
      #expect(other.connections == 0)
    }
  }

  private static func wire(_ body: String, _ more: String = "", status: String = "200 OK") -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(more)\r\n\(body)"
  }
}
