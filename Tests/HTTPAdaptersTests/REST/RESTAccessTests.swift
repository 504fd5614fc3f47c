import CanonicalSync
import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Who asks a JSON API", .timeLimit(.minutes(10)))
struct RESTAccessTests {
  private static func answer(_ json: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, body: Array(json.utf8))
  }

  /// An API and a token endpoint of one origin.
  private static func api(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) -> FakeREST {
    let api = FakeREST()
    api.onRequest { answer($0) }
    return api
  }

  private static func description(_ members: String, type: String = #""path":"items""#) throws -> RESTAPI {
    try RESTAPI(
      json: Array(#"{"base":"https://api.test/v1/","types":{"items":{\#(type)}},\#(members)}"#.utf8),
      named: "api.json")
  }

  private static func page(
    _ source: RESTSource, at position: PullPosition = .start(since: nil)
  ) async throws(SyncError) -> RecordPage {
    try await source.page(PageRequest(entity: Entity("items"), position: position, limit: 5, pass: 1))
  }

  private static func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  private static func form(_ request: HTTPRequest) -> [String: String] {
    var form: [String: String] = [:]
    for part in String(decoding: request.body, as: UTF8.self).split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1)
      form[String(pair[0])] = pair.count > 1 ? String(pair[1]).removingPercentEncoding : ""
    }
    return form
  }

  // MARK: OAuth 2

  @Test func aClientFetchesOneTokenForAllTypesAndAnotherBeforeItEnds() async throws {
    let count = Mutex(0)
    let api = Self.api { request in
      guard request.address.path == "/token" else { return Self.answer("[]") }
      let number = count.withLock { count in
        count += 1
        return count
      }
      return Self.answer(#"{"access_token":"a\#(number)","token_type":"bearer","expires_in":100}"#)
    }
    let clock = ManualClock()
    var description = try Self.description(#""keepsUnknownMembers":false"#)
    description.credentials = .oauth2(
      OAuth2Client(
        tokenURL: "https://login.test/token", clientID: .text("me"), clientSecret: .text("s:ecret"),
        scope: "read write"))
    let source = try RESTSource(description, transport: api, clock: clock)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...5 { group.addTask { _ = try await Self.page(source) } }
      try await group.waitForAll()
    }
    let exchange = try #require(api.requests.first { $0.address.path == "/token" })
    #expect(Self.form(exchange) == ["grant_type": "client_credentials", "scope": "read write"])
    // RFC 6749, 2.3.1: both halves are encoded before they are joined.
    #expect(exchange.headers["Authorization"] == "Basic \(Data("me:s%3Aecret".utf8).base64EncodedString())")
    #expect(api.requests.count { $0.headers["Authorization"] == "Bearer a1" } == 5)
    #expect(count.withLock { $0 } == 1)
    clock.advance(by: .seconds(79))
    _ = try await Self.page(source)
    #expect(api.requests.last?.headers["Authorization"] == "Bearer a1")
    clock.advance(by: .seconds(2))
    _ = try await Self.page(source)
    #expect(api.requests.last?.headers["Authorization"] == "Bearer a2")
  }

  @Test func aSuccessorIsInItsFileBeforeTheFirstRequestAndALinkStaysOne() async throws {
    try await Self.withFolder { folder in
      let (file, link) = (folder.appending(path: "token"), folder.appending(path: "link"))
      try Data("r1\n".utf8).write(to: file)
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
      let path = file.path
      let held = Mutex<[String]>([])
      let api = Self.api { request in
        if request.address.path == "/token" {
          let sent = Self.form(request)["refresh_token"] ?? ""
          guard let number = Int(sent.dropFirst()) else { return Self.answer("{}", status: 400) }
          return Self.answer(#"{"access_token":"a\#(number)","refresh_token":"r\#(number + 1)"}"#)
        }
        held.withLock { $0.append((try? String(contentsOfFile: path, encoding: .utf8)) ?? "") }
        // The first token is refused, although nothing said that it would end.
        return request.headers["Authorization"] == "Bearer a1"
          ? Self.answer("{}", status: 401) : Self.answer("[]")
      }
      let json =
        #""auth":{"oauth2":{"tokenURL":"https://login.test/token","clientID":"file:\#(path).id","refreshToken":"file:\#(link.path)"}}"#
      try Data("me".utf8).write(to: URL(filePath: path + ".id"))
      let source = try RESTSource(Self.description(json), transport: api)
      _ = try await Self.page(source)
      #expect(held.withLock { $0 } == ["r2\n", "r3\n"])
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == path)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
          "link", "token", "token.id",
        ])
      // A successor is of the same account.
      guard case .credentials(let fingerprints)? = try await source.account() else {
        Issue.record("no fingerprints")
        return
      }
      #expect(Set(fingerprints).count == 3)
    }
  }

  @Test func aRefusalTellsTheServersErrorAndNoSecret() async throws {
    let api = Self.api { request in
      Self.answer(
        #"{"error":"invalid_grant","error_description":"the token \#(Self.form(request)["refresh_token"] ?? "") ended"}"#,
        status: 400)
    }
    var description = try Self.description(#""keepsUnknownMembers":false"#)
    description.credentials = .oauth2(
      OAuth2Client(tokenURL: "https://login.test/token", clientID: .text("me"), refreshToken: .text("s3cret"))
    )
    let source = try RESTSource(description, transport: api)
    let error = await #expect(throws: SyncError.self) { _ = try await Self.page(source) }
    #expect(error?.code == .authentication)
    #expect(
      error?.message
        == "The token endpoint at https://login.test answered 400: invalid_grant: the token … ended.")
  }

  @Test func aServerMayTakeTheClientInTheFormAlone() async throws {
    let api = Self.api { request in
      guard request.address.path == "/token" else { return Self.answer("[]") }
      return Self.form(request)["client_secret"] == "s"
        ? Self.answer(#"{"access_token":"a"}"#) : Self.answer(#"{"error":"invalid_client"}"#, status: 401)
    }
    var description = try Self.description(#""keepsUnknownMembers":false"#)
    description.credentials = .oauth2(
      OAuth2Client(tokenURL: "https://login.test/token", clientID: .text("me"), clientSecret: .text("s")))
    _ = try await Self.page(RESTSource(description, transport: api))
    #expect(api.requests.map(\.address.path) == ["/token", "/token", "/v1/items"])
    #expect(api.requests[1].headers["Authorization"] == nil)
  }

  // MARK: Other credentials

  @Test func aKeyInTheQueryIsSentOnceAndNotKept() async throws {
    let api = Self.api { request in
      Self.answer(
        request.address.query?.contains("c=2") == true
          ? #"{"data":[]}"# : #"{"data":[{"id":1}],"next":"/v1/items?c=2&api%5Fkey=k%2B1"}"#)
    }
    var description = try Self.description(
      #""keepsUnknownMembers":false"#,
      type: #""path":"items","records":"/data","paging":{"next":"/next"},"query":{"token":"t0p"}"#)
    description.credentials = .query("api_key", .text("k+1"))
    let source = try RESTSource(description, transport: api)
    let page = try await Self.page(source)
    guard case .more(let token, _) = page.next else {
      Issue.record("no further page")
      return
    }
    #expect(!token.rawValue.contains("k%252B1") && !token.rawValue.contains("k+1"))
    #expect(!token.rawValue.contains("t0p") && !source.query(for: "items").contains("t0p"))
    _ = try await Self.page(source, at: .resume(token))
    #expect(
      api.requests.map { $0.address.query ?? "" } == [
        "token=t0p&api_key=k%2B1", "c=2&token=t0p&api_key=k%2B1",
      ])
  }

  @Test func theAppIsAskedAgainAfterARefusal() async throws {
    let api = Self.api { request in
      request.headers["Authorization"] == "Bearer t1" ? Self.answer("{}", status: 401) : Self.answer("[]")
    }
    let count = Mutex(0)
    var description = try Self.description(#""keepsUnknownMembers":false"#)
    description.credentials = .bearer(
      .provided {
        count.withLock { count in
          count += 1
          return "t\(count)"
        }
      })
    let source = try RESTSource(description, transport: api)
    for _ in 1...3 { _ = try await Self.page(source) }
    #expect(
      api.requests.map { $0.headers["Authorization"] } == ["t1", "t2", "t2", "t2"].map { "Bearer \($0)" })
  }

  @Test(arguments: ["ghp_16C7e42F292c6912E7710c838347Ae178B4a", "AKIAIOSFODNN7EXAMPLE9876", "s3cr3t99"])
  func aSecretInPlaceOfItsPlaceIsNotTold(_ secret: String) async throws {
    for scheme in ["env", "file"] {
      let source = try RESTSource(
        Self.description(#""auth":{"bearer":"\#(scheme):\#(secret)"}"#),
        transport: Self.api { _ in Self.answer("[]") })
      let error = await #expect(throws: SyncError.self) { _ = try await Self.page(source) }
      #expect(error?.code == .invalidConfiguration && error.map { "\($0)".contains(secret) } == false)
    }
    let error = #expect(throws: SyncError.self) {
      _ = try HTTPSecret.environment("MY_API_TOKEN").read()
    }
    #expect(error?.message.contains("MY_API_TOKEN") == true)
  }

  @Test func eachRequestNamesTheAppAndTheLibrary() async throws {
    let api = Self.api { _ in Self.answer("[]") }
    var options = RESTSource.Options()
    options.userAgent = "Scores/2 (mail@example.com)"
    _ = try await Self.page(
      RESTSource(Self.description(#""keepsUnknownMembers":false"#), options: options, transport: api))
    #expect(
      api.requests[0].headers["User-Agent"]?.wholeMatch(
        of: #/Scores/2 \(mail@example\.com\) CanonicalSync/[0-9][-0-9.a-z]+/#) != nil)
  }

  @Test func requestsKeepToTheirBudget() async throws {
    let api = Self.api { _ in Self.answer("[]") }
    let clock = ManualClock()
    let source = try RESTSource(
      Self.description(#""pace":{"requests":2,"seconds":10}"#), transport: api, clock: clock)
    for _ in 1...2 { _ = try await Self.page(source) }
    async let third = Self.page(source)
    #expect(await clock.nextSleep() == .seconds(10))
    #expect(api.requests.count == 2)
    clock.advance(by: .seconds(10))
    _ = try await third
    #expect(api.requests.count == 3)
    for flaw in [#"{"requests":0,"seconds":1}"#, #"{"requests":1}"#, #"{"requests":1,"seconds":0}"#] {
      #expect(throws: SyncError.self) { _ = try Self.description(#""pace":\#(flaw)"#) }
    }
  }

  // MARK: Whose data these are

  /// One store, and engines with the credentials of several people.
  private struct World {
    let api = FakeREST()
    let store = InMemoryStore()

    func engine(_ token: String, account: String = "", pushes: Bool = true) async throws -> SyncEngine {
      var description = try RESTAccessTests.description(
        #""keepsUnknownMembers":false\#(account)"#,
        type:
          #""path":"items","version":"/at","item":"items/{id}","push":{"write":"PUT items/{id}","delete":"DELETE items/{id}"}"#
      )
      description.credentials = .bearer(token)
      let source = try RESTSource(description, transport: api)
      return try await SyncEngine(
        schema: SyncSchema([Entity("items")]), store: store, source: source,
        sink: pushes ? RESTSink(source) : nil)
    }
  }

  /// An API that shows each person a record of their own.
  private static func world() -> (World, @Sendable () -> [String]) {
    let world = World()
    let writes = WrittenBy()
    world.api.onRequest { request in
      let person = String(request.headers["Authorization"]?.dropFirst(7).prefix { $0.isLetter } ?? "")
      if person == "typo" { return HTTPResponse(status: 401, body: []) }
      if request.address.path == "/v1/me" { return Self.answer(#"{"id":"\#(person)"}"#) }
      if request.method != "GET" {
        writes.list.withLock { $0.append(person) }
        return Self.answer(#"{"id":"x","n":2,"at":"2026-03-02T00:00:00Z"}"#)
      }
      let shared = #"{"id":"x","n":1,"at":"2026-03-01T00:00:00Z"}"#
      if request.address.path == "/v1/items/x" { return Self.answer(shared) }
      return Self.answer(
        #"[\#(shared),{"id":"\#(person)","at":"2026-0\#(person == "a" ? 3 : 2)-01T00:00:00Z"}]"#)
    }
    return (world, { writes.list.withLock { $0 } })
  }

  private final class WrittenBy: Sendable {
    let list = Mutex<[String]>([])
  }

  private static let x = RecordID(type: "items", key: "x")

  private static func syncAndEdit(by engine: SyncEngine) async throws {
    _ = try await engine.sync()
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(x) { $0["n"] = Array("2".utf8)[...] }
    }
  }

  @Test func otherCredentialsListEverythingAndSendNoEditUntilTheAppAllowsIt() async throws {
    let (world, writes) = Self.world()
    let first = try await world.engine("a")
    try await Self.syncAndEdit(by: first)
    let second = try await world.engine("b")
    for _ in 1...2 {
      _ = try await second.sync()
      #expect(writes() == [])
      #expect(world.store.records(of: "items").map(\.id.key).sorted() == ["b", "x"])
      let waiting = try await second.edits.pending("items")
      #expect(waiting.map(\.id) == [Self.x])
    }
    try await second.edits.retry("items", ["x"])
    _ = try await second.sync()
    #expect(writes() == ["b"])
    #expect(try await second.edits.pending("items").isEmpty)
  }

  @Test func credentialsThatTheRemoteRefusesHoldNoEdit() async throws {
    let (world, writes) = Self.world()
    let first = try await world.engine("a")
    try await Self.syncAndEdit(by: first)
    let mistyped = try await world.engine("typo")
    for request in [SyncRequest(), SyncRequest(direction: .push)] {
      let error = await #expect(throws: SyncError.self) { _ = try await mistyped.sync(request) }
      #expect(error?.code == .authentication)
      #expect(try await mistyped.edits.pending("items").map(\.state) == [.waiting])
    }
    _ = try await world.engine("a").sync()
    #expect(writes() == ["a"])
  }

  @Test func anotherNamedAccountIsRefusedAndARenewedTokenCostsNothing() async throws {
    let (world, writes) = Self.world()
    let account = #","account":{"path":"me","id":"/id"}"#
    let first = try await world.engine("a1", account: account)
    try await Self.syncAndEdit(by: first)
    let stranger = try await world.engine("b1", account: account)
    for request in [SyncRequest(), SyncRequest(fullPull: ["items"]), SyncRequest(direction: .push)] {
      let error = await #expect(throws: SyncError.self) { _ = try await stranger.sync(request) }
      #expect(error?.code == .otherAccount && error?.message.contains("account") == true)
    }
    #expect(writes() == [])
    #expect(world.store.records(of: "items").map(\.id.key).sorted() == ["a", "x"])
    let renewed = try await world.engine("a2", account: account)
    _ = try await renewed.sync()
    #expect(writes() == ["a"])
    #expect(world.api.requests.count { $0.address.path == "/v1/me" } == 3)
  }

  @Test func anAccountMayStandInTheEnvironment() async throws {
    setenv("RESTACCESS_ACCOUNT", "me", 1)
    let source = try RESTSource(
      Self.description(#""account":"env:RESTACCESS_ACCOUNT""#), transport: Self.api { _ in Self.answer("[]") }
    )
    #expect(try await source.account() == .named("me"))
  }
}
