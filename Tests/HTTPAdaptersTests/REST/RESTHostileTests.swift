import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Answers that no sound JSON API gives", .timeLimit(.minutes(10)))
struct RESTHostileTests {
  /// Answers each request by a function of its number and itself.
  private final class Answers: HTTPTransport {
    private let answer: @Sendable (Int, HTTPRequest) -> HTTPResponse
    private let log = Mutex<[HTTPRequest]>([])

    init(_ answer: @escaping @Sendable (Int, HTTPRequest) -> HTTPResponse) { self.answer = answer }

    var requests: [HTTPRequest] { log.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      let number = log.withLock { log in
        log.append(request)
        return log.count
      }
      // What goes on for so long would go on for ever.
      return number > 3000 ? HTTPResponse(status: 418) : answer(number, request)
    }
  }

  private static func json(_ text: String, _ headers: HTTPHeaders = [:]) -> HTTPResponse {
    HTTPResponse(status: 200, headers: headers, body: Array(text.utf8))
  }

  private static func source(_ members: String, _ transport: any HTTPTransport) throws -> RESTSource {
    let json =
      #"{"base":"https://api.test/v1/","auth":{"bearer":"env:NONE"},"types":{"items":{"path":"items","records":"/data",\#(members)}}}"#
    var api = try RESTAPI(json: Array(json.utf8), named: "api.json")
    api.credentials = .bearer(.text("s3cret"))
    return try RESTSource(api, transport: transport)
  }

  /// Reads pages up to the end or a failure.
  private static func list(
    _ members: String, limit: Int = 5, _ answer: @escaping @Sendable (Int, HTTPRequest) -> HTTPResponse
  ) async throws -> (changes: [RecordChange], error: SyncError?, requests: [HTTPRequest]) {
    let transport = Answers(answer)
    let source = try source(members, transport)
    var (position, changes) = (PullPosition.start(since: nil), [RecordChange]())
    do throws(SyncError) {
      while true {
        let page = try await source.page(
          PageRequest(entity: Entity("items"), position: position, limit: limit, pass: 1))
        changes += page.changes
        guard case .more(let next, _) = page.next else { return (changes, nil, transport.requests) }
        position = .resume(next)
      }
    } catch {
      return (changes, error, transport.requests)
    }
  }

  @Test func aPageForABrowserIsToldByItsAddressTypeAndBeginning() async throws {
    let listed = try await Self.list(#""paging":{"next":"/next"}"#) { _, _ in
      Self.json("\n<!DOCTYPE html>\n<title>Sign in</title>", ["Content-Type": "text/html"])
    }
    #expect(listed.error?.code == .invalidResponse)
    let message = listed.error?.message ?? ""
    #expect(
      message.contains(
        "(https://api.test/v1/items, text/html): it begins with \"<!DOCTYPE html> <title>Sign in</title>\""))
  }

  // MARK: Places

  @Test(arguments: [
    "https://evil.test/v1/items?c=2", "http://api.test/v1/items?c=2", "https://api.test:444/v1/items?c=2",
    "https://api.test@evil.test/v1/items?c=2", "https://api.test\\\\@evil.test/v1/items?c=2",
    "//evil.test/v1/items?c=2", "javascript:alert(1)",
  ])
  func aNextPageElsewhereIsRefused(_ next: String) async throws {
    for isLink in [true, false] {
      let listed = try await Self.list(
        isLink ? #""paging":{"link":"next"}"# : #""paging":{"next":"/next"}"#
      ) { _, _ in
        Self.json(#"{"data":[{"id":1}],"next":"\#(next)"}"#, ["Link": "<\(next)>; rel=next"])
      }
      #expect(listed.error?.code == .invalidResponse)
      #expect(
        listed.error?.message.hasPrefix("types.items.paging.\(isLink ? "link" : "next") leads to ") == true)
      #expect(listed.error?.description.contains("s3cret") == false)
      #expect(listed.requests.count == 1)
    }
  }

  @Test(arguments: [1, 2, 3, 7, 50], ["link", "next", "cursor"])
  func aCycleOfPagesEnds(_ length: Int, _ style: String) async throws {
    let paging =
      switch style {
      case "link": #"{"link":"next"}"#
      case "next": #"{"next":"/next"}"#
      default: #"{"cursor":"/next","parameter":"c"}"#
      }
    let listed = try await Self.list(#""paging":\#(paging)"#) { number, _ in
      let place = number % length
      return Self.json(
        #"{"data":[{"id":\#(number)}],"next":"?c=\#(place)"}"#, ["Link": "<?c=\(place)>; rel=next"])
    }
    let message = listed.error?.message ?? ""
    #expect(message.hasPrefix("types.items.paging.\(style) leads back to an earlier page, after "))
    #expect(listed.requests.count <= 4 * length + 4)
  }

  @Test func pagesThatRepeatUnderNewCursorsEnd() async throws {
    let listed = try await Self.list(#""paging":{"cursor":"/next","parameter":"c"}"#) { number, _ in
      Self.json(#"{"data":[{"id":1},{"id":2}],"next":"sealed-\#(number)"}"#)
    }
    #expect(
      listed.error?.message
        == "The page after 6 records is the page before it again; does types.items.paging name a parameter of the API?"
    )
    #expect(listed.requests.count == 4)
  }

  @Test(arguments: [
    #""paging":{"cursor":"/next","parameter":"c"}"#,
    #""paging":{"page":"p"},"pageSize":{"parameter":"n"},"total":"/total""#,
  ])
  func emptyPagesWithoutEndEnd(_ paging: String) async throws {
    let listed = try await Self.list(paging) { number, _ in
      Self.json(#"{"data":[\#(number == 1 ? #"{"id":1}"# : "")],"next":"c\#(number)","total":2000000000}"#)
    }
    let message = listed.error?.message ?? ""
    #expect(
      message.hasPrefix("1000 pages in succession are empty, after 1 record; does types.items.paging lead"))
    #expect(listed.requests.count == 1001)
  }

  @Test func aTotalThatIsTooSmallEndsNothing() async throws {
    let listed = try await Self.list(
      #""paging":{"page":"p"},"pageSize":{"parameter":"n"},"total":"/total""#
    ) { number, _ in
      let rows = number > 3 ? [] : (1...5).map { #"{"id":"\#(number)-\#($0)"}"# }
      return Self.json(#"{"data":[\#(rows.joined(separator: ","))],"total":3}"#)
    }
    #expect(listed.error == nil)
    #expect(listed.changes.count == 15)
  }

  // MARK: Values

  @Test(arguments: [
    "-9223372036854775808", "9223372036854775807", "-1", "1e400", "-1e400", "1.5", "18446744073709551616",
    "\"9999999-01-01T00:00:00Z\"", "null", "[]", "true",
  ])
  func numbersOfAnySizeAreTimesOrErrors(_ number: String) async throws {
    let answers = Self.json(
      #"{"data":[{"id":1,"at":\#(number)},{"id":2,"at":7}],"now":\#(number),"total":\#(number)}"#)
    for members in [
      #""delta":{"since":"s","clock":"/now"}"#, #""total":"/total""#, #""version":"/at""#,
      #""version":"/at","delta":{"since":"s","format":"seconds","clock":"/now"}"#,
      #""version":"/at","delta":{"since":"s","format":"milliseconds","clock":"/now"}"#,
      #""delta":{"token":"/now","parameter":"t"}"#, #""paging":{"cursor":"/now","parameter":"c"}"#,
    ] {
      let transport = Answers { _, _ in answers }
      let source = try Self.source(members, transport)
      let entity = Entity("items")
      do throws(SyncError) {
        let page = try await source.page(
          PageRequest(entity: entity, position: .start(since: nil), limit: 5, pass: 1))
        // What a token of it leads to is an answer or an error too.
        guard case .done(let token?) = page.next else { continue }
        _ = try await source.page(
          PageRequest(entity: entity, position: .start(since: token), limit: 5, pass: 2))
      } catch {
        #expect(error.message.contains("types.items."), "\(members): \(error.message)")
      }
    }
  }

  @Test(arguments: [
    ("1.5", "a number"), ("1e2", "a number"), ("true", "true"), ("false", "false"), ("null", "null"),
    ("[1]", "a list"), ("{}", "an object"), ("9223372036854775808.0", "a number"), ("\"\"", "empty text"),
    (#""\ud800""#, "an escape for half"), (#""a\uDC01b""#, "an escape for half"),
  ])
  func anIdOfAnotherKindIsSetAsideAlone(_ id: String, _ found: String) async throws {
    let listed = try await Self.list(#""paging":{"next":"/next"}"#) { _, _ in
      Self.json(#"{"data":[{"id":"a"},{"id":\#(id)},{"id":-7},7]}"#)
    }
    #expect(listed.error == nil)
    #expect(listed.changes.compactMap(\.id?.key) == ["a", "-7"])
    let reasons = listed.changes.compactMap { change in
      if case .malformed(let malformed) = change { malformed.reason } else { nil }
    }
    #expect(reasons.count == 2 && reasons.first?.hasPrefix("/id (types.items.id) ") == true)
    #expect(reasons.first?.contains(" \(found)") == true, "\(reasons)")
  }

  @Test func anIdThatComesTwiceIsOneRecord() async throws {
    let transport = Answers { _, _ in
      Self.json(#"{"data":[{"id":1,"v":1,"n":2},{"id":"1","v":2,"n":1},{"id":2,"v":1},{"id":2,"v":2}]}"#)
    }
    let store = InMemoryStore()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("items")), store: store, source: Self.source(#""version":"/n""#, transport))
    #expect(try await engine.sync().failures.isEmpty)
    let texts = store.records(of: "items").map { String(decoding: $0.payload.bytes, as: UTF8.self) }
    // The greater version counts, and the later copy of equals.
    #expect(texts.sorted() == [#"{"id":1,"v":1,"n":2}"#, #"{"id":2,"v":2}"#])
  }

  @Test(arguments: ["\"yesterday\"", "\"\"", "\"7\"", "1e30", "9223372036854775808"])
  func aVersionWithoutAnOrderIsSetAsideAlone(_ version: String) async throws {
    let listed = try await Self.list(#""version":"/at""#) { _, _ in
      Self.json(#"{"data":[{"id":1,"at":"2026-11-24T10:00:00Z"},{"id":2,"at":\#(version)}]}"#)
    }
    #expect(listed.error == nil)
    guard listed.changes.count == 2, case .malformed(let malformed) = listed.changes[1] else {
      Issue.record("\(listed.changes)")
      return
    }
    #expect(malformed.key == "2")
    #expect(malformed.reason.hasPrefix("/at (types.items.version) is "), "\(malformed.reason)")
  }

  @Test func depthIsARecordsOwnMatter() async throws {
    let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    let listed = try await Self.list(#""paging":{"next":"/meta/next"}"#) { _, _ in
      Self.json(#"{"data":[{"id":1},{"id":2,"deep":\#(deep)},{"id":3}],"meta":{"deep":\#(deep)}}"#)
    }
    #expect(listed.error == nil)
    #expect(listed.changes.compactMap(\.id?.key) == ["1", "3"])
    let other = try await Self.list(#""paging":{"next":"/next"}"#) { _, _ in
      Self.json(#"{"data":[],"next":\#(deep)}"#)
    }
    #expect(
      other.error?.message
        == "/next (types.items.paging.next) is a list; expected is text, or null at the end.")
  }

  @Test(arguments: [
    "", "null", "\"\"", "7", "[]", "<html>", #"{"data":[1"#, #"{"data":{}}"#,
  ])
  func whatIsNoListIsAnError(_ body: String) async throws {
    let listed = try await Self.list(#""paging":{"next":"/next"}"#) { _, _ in Self.json(body) }
    #expect([.inconsistentData, .invalidResponse].contains(listed.error?.code))
    #expect(listed.error?.operation == "fetching a page of items")
  }

  @Test(arguments: [
    (#"{"data":null}"#, ""), ("\u{FEFF}{\"data\":[]}", ""), (#"{"total":0}"#, #","total":"/total""#),
    (#"{"total":0,"data":null}"#, #","total":"/total""#),
  ])
  func anEmptyListMayBeNullOrLeftOut(_ body: String, _ members: String) async throws {
    let listed = try await Self.list(#""paging":{"next":"/next"}\#(members)"#) { _, _ in Self.json(body) }
    #expect(listed.error == nil && listed.changes.isEmpty)
    let lacking = try await Self.list(#""total":"/total""#) { _, _ in Self.json(#"{"total":1}"#) }
    #expect(lacking.error?.code == .inconsistentData)
  }

  // MARK: Statuses

  /// Numbers of pages beyond the last one, which some APIs refuse.
  @Test(arguments: [400, 404, 422])
  func aPageBehindTheLastOneEndsTheList(_ status: Int) async throws {
    let listed = try await Self.list(#""paging":{"page":"p"},"pageSize":{"parameter":"n","maximum":2}"#) {
      _, request in
      switch request.address.query ?? "" {
      case let query where query.contains("p=1"): Self.json(#"{"data":[{"id":1},{"id":2}]}"#)
      case let query where query.contains("p=2"): Self.json(#"{"data":[{"id":3}]}"#)
      default: HTTPResponse(status: status)
      }
    }
    #expect(listed.error == nil)
    #expect(listed.changes.compactMap(\.id?.key) == ["1", "2", "3"])
  }

  @Test(arguments: [
    (#""/more""#, "true", "false"), (#""/more""#, "3", "0"), (#""/more""#, "\"x\"", "\"\""),
    (#""/more""#, "true", "null"), (#""/more""#, "\"True\"", "\"False\""), (#""/more""#, "\"1\"", "\"0\""),
    (#"{"pointer":"/more","equals":false}"#, "false", "true"),
  ])
  func aFlagEndsTheList(_ more: String, _ goesOn: String, _ ends: String) async throws {
    for paging in [#""cursor":"/next","parameter":"c""#, #""page":"p""#, #""next":"/link""#] {
      let listed = try await Self.list(#""paging":{\#(paging),"more":\#(more)}"#) { number, _ in
        Self.json(
          #"{"data":[{"id":\#(number)}],"next":"\#(number)","link":"?n=\#(number)","more":\#(number < 3 ? goesOn : ends)}"#
        )
      }
      #expect(listed.error == nil && listed.requests.count == 3)
      #expect(listed.changes.count == 3)
    }
  }

  @Test func linksElsewhereMayBeOfTheBase() async throws {
    for (rebases, count) in [(true, 2), (false, 1)] {
      let listed = try await Self.list(#""paging":{"next":"/next","rebase":\#(rebases)}"#) { _, request in
        request.address.query == nil
          ? Self.json(#"{"data":[{"id":1}],"next":"http://inner.test:8000/v1/items?page=2"}"#)
          : Self.json(#"{"data":[{"id":2}],"next":null}"#)
      }
      #expect(listed.requests.count == count && (listed.error == nil) == rebases)
      #expect(listed.requests.allSatisfy { $0.address.description.hasPrefix("https://api.test/v1/items") })
    }
  }

  /// The next delta is at an address that the last page gives.
  @Test func changesMayBeAskedForAtAnAddress() async throws {
    let transport = Answers { _, request in
      switch request.address.query {
      case nil: Self.json(#"{"data":[{"id":1},{"id":2}],"delta":"https://api.test/v1/items?d=1"}"#)
      case "d=1": Self.json(#"{"data":[{"id":2,"gone":{"why":"x"}}],"delta":"?d=2"}"#)
      case "d=2": Self.json(#"{"data":[],"delta":"?d=2"}"#)
      default: HTTPResponse(status: 400)
      }
    }
    let store = InMemoryStore()
    let source = try Self.source(
      #""delta":{"next":"/delta"},"deleted":{"pointer":"/gone","exists":true}"#, transport)
    let engine = try await SyncEngine(schema: SyncSchema(Entity("items")), store: store, source: source)
    for _ in 1...3 { #expect(try await engine.sync().failures.isEmpty) }
    #expect(store.records(of: "items").map(\.id.key) == ["1"])
    #expect(transport.requests.map(\.address.query) == [nil, "d=1", "d=2"])
  }

  @Test func aListingThatEndsBeforeItsTotalTwiceIsToldAndNothingIsRemoved() async throws {
    let isWhole = Mutex(true)
    let transport = Answers { _, request in
      let page =
        (request.address.query ?? "").hasSuffix("p=2")
        ? 2 : (request.address.query ?? "").hasSuffix("p=3") ? 3 : 1
      let rows = page == 1 ? [1, 2] : page == 2 && isWhole.withLock { $0 } ? [3, 4] : []
      return Self.json(
        #"{"data":[\#(rows.map { #"{"id":\#($0)}"# }.joined(separator: ","))],"total":4}"#)
    }
    let store = InMemoryStore()
    let source = try Self.source(#""paging":{"page":"p"},"total":"/total""#, transport)
    let engine = try await SyncEngine(schema: SyncSchema(Entity("items")), store: store, source: source)
    #expect(try await engine.sync().failures.isEmpty)
    isWhole.withLock { $0 = false }
    for _ in 1...3 {
      let failure = try await engine.sync().failures.first?.error
      #expect(
        failure?.message
          == "Two listings have ended after 2 of 4 records (types.items.total); does types.items.paging lead on?"
      )
      #expect(store.records(of: "items").count == 4)
    }
    isWhole.withLock { $0 = true }
    #expect(try await engine.sync().failures.isEmpty)
  }

  @Test func aPartOfAListIsNoList() async throws {
    for (members, isPart) in [(#""id":"/id""#, true), (#""paging":{"next":"/next"}"#, false)] {
      let listed = try await Self.list(members) { _, _ in
        HTTPResponse(status: 206, body: Array(#"{"data":[{"id":1}]}"#.utf8))
      }
      #expect((listed.error?.code == .inconsistentData) == isPart)
    }
  }

  /// Pages that repeat some records skip others.
  @Test func recordsThatComeAgainDoNotCountForTheTotal() async throws {
    let transport = Answers { _, request in
      let query = request.address.query ?? ""
      let rows = query.hasSuffix("p=2") ? [2, 3] : query.hasSuffix("p=3") ? [] : [1, 2]
      return Self.json(
        #"{"data":[\#(rows.map { #"{"id":\#($0)}"# }.joined(separator: ","))],"total":4}"#)
    }
    let store = InMemoryStore()
    let source = try Self.source(#""paging":{"page":"p"},"total":"/total""#, transport)
    let engine = try await SyncEngine(schema: SyncSchema(Entity("items")), store: store, source: source)
    for _ in 1...2 {
      let failure = try await engine.sync().failures.first?.error
      #expect(failure?.message.hasPrefix("Two listings have ended after 3 of 4 records") ?? false)
    }
    #expect(store.records(of: "items").count == 3)
  }

  @Test func aVersionInTheFutureIsToldAndOutlived() async throws {
    let version = Mutex("2099-01-01T00:00:00Z")
    let told = Mutex<[String]>([])
    let transport = Answers { number, _ in
      Self.json(
        #"{"data":[{"id":1,"n":\#(number),"at":"\#(version.withLock { $0 })"}]}"#,
        ["Date": "Wed, 01 Apr 2026 18:00:00 GMT"])
    }
    let json =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","records":"/data","version":"/at"}}}"#
    let source = try RESTSource(
      RESTAPI(json: Array(json.utf8), named: "api.json"), transport: transport,
      onAlert: { text in told.withLock { $0.append(text) } })
    let store = InMemoryStore()
    let engine = try await SyncEngine(schema: SyncSchema(Entity("items")), store: store, source: source)
    _ = try await engine.sync()
    #expect(told.withLock { $0 } == ["types.items.version of 1 is in the future, and counts as none."])
    version.withLock { $0 = "2026-04-01T17:00:00Z" }
    _ = try await engine.sync()
    let shown = store.records(of: "items").map { String(decoding: $0.payload.bytes, as: UTF8.self) }
    #expect(shown == [#"{"id":1,"n":2,"at":"2026-04-01T17:00:00Z"}"#])
  }

  @Test func aFractionOfAVersionCounts() async throws {
    let listed = try await Self.list(#""version":"/v""#) { _, _ in
      Self.json(#"{"data":[{"id":1,"v":1712345678.000001},{"id":2,"v":1712345678.000002},{"id":3,"v":7}]}"#)
    }
    let versions = listed.changes.compactMap {
      if case .upsert(let record) = $0 { record.version } else { nil }
    }
    #expect(versions.count == 3 && versions[0] < versions[1] && versions[2] < versions[0])
  }

  /// An API that does not know the parameter of the description.
  @Test func aRefusedDeltaIsTold() async throws {
    let told = Mutex<[String]>([])
    let transport = Answers { _, request in
      (request.address.query ?? "").contains("since")
        ? HTTPResponse(status: 400, body: Array(#"{"message":"unknown parameter since"}"#.utf8))
        : Self.json(#"{"data":[{"id":1}]}"#, ["Date": "Wed, 01 Apr 2026 18:00:00 GMT"])
    }
    let json =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","records":"/data","delta":{"since":"since"}}}}"#
    let source = try RESTSource(
      RESTAPI(json: Array(json.utf8), named: "api.json"), transport: transport,
      onAlert: { text in told.withLock { $0.append(text) } })
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("items")), store: InMemoryStore(), source: source)
    for _ in 1...3 { #expect(try await engine.sync().failures.isEmpty) }
    #expect(
      told.withLock { $0 } == [
        "400 to a request for changes (types.items.delta): unknown parameter since. Everything is listed instead."
      ])
  }

  /// A server that does not page on beyond some number of records.
  @Test func aCapIsToldWithThePlaceAndTheServersWords() async throws {
    let listed = try await Self.list(
      #""paging":{"cursor":"/next","parameter":"after"},"total":"/total""#
    ) { _, request in
      (request.address.query ?? "").contains("after")
        ? HTTPResponse(status: 400, body: Array(#"{"error":{"message":"offset too large"}}"#.utf8))
        : Self.json(#"{"data":[{"id":1},{"id":2}],"next":"x","total":5}"#)
    }
    #expect(listed.error?.code == .inconsistentData && listed.requests.count == 2)
    #expect(
      listed.error?.message
        == "The server answered 400 to the request for the page after 2 of 5 records: offset too large.")
  }

  @Test func anUnaskedForConfirmationIsAnError() async throws {
    for delta in ["", #","delta":{"etag":true}"#] {
      let listed = try await Self.list(#""paging":{"next":"/next"}\#(delta)"#) { _, _ in
        HTTPResponse(status: 304, headers: ["ETag": "\"1\""])
      }
      #expect(listed.error?.code == .invalidResponse)
      #expect(
        listed.error?.message
          == "The server answered 304, which is not an answer to a request for a list (https://api.test/v1/items)."
      )
    }
  }

  @Test(arguments: ["31536000", "Wed, 24 Nov 2027 10:00:00 GMT", "99999999999999999999"])
  func aPauseOfAYearIsADay(_ pause: String) async throws {
    let listed = try await Self.list(#""paging":{"next":"/next"}"#) { _, _ in
      HTTPResponse(
        status: 429, headers: ["Retry-After": pause, "Date": "Tue, 24 Nov 2026 10:00:00 GMT"])
    }
    #expect(listed.error?.code == .remoteUnavailable)
    #expect(listed.error?.retryAfter == .seconds(24 * 3600))
  }

  @Test func aRedirectElsewhereTakesNoCredentials() async throws {
    let listed = try await Self.list(#""paging":{"next":"/next"}"#) { number, _ in
      HTTPResponse(status: 302, headers: ["Location": number == 1 ? "/v2/items" : "https://evil.test/"])
    }
    #expect(listed.error?.code == .invalidResponse)
    #expect(
      listed.requests.map(\.address.description) == [
        "https://api.test/v1/items", "https://api.test/v2/items",
      ])
  }

  @Test func aServerThatIsAwayKeepsTheTagsOfItsPages() async throws {
    let transport = Answers { number, request in
      if number == 4 { return HTTPResponse(status: 503) }
      if request.headers["If-None-Match"] != nil { return HTTPResponse(status: 304) }
      return number == 1
        ? Self.json(#"{"data":[{"id":1}],"next":"?c=2"}"#, ["ETag": "\"a\""])
        : Self.json(#"{"data":[{"id":2}]}"#, ["ETag": "\"b\""])
    }
    let source = try Self.source(
      #""paging":{"next":"/next"},"delta":{"etag":true},"item":"items/{id}""#, transport)
    var position = PullPosition.start(since: nil)
    var token: SyncToken?
    func turn() async throws(SyncError) {
      let page = try await source.page(
        PageRequest(entity: Entity("items"), position: position, limit: 5, pass: 1))
      switch page.next {
      case .more(let next, _): position = .resume(next)
      case .done(let end): (token, position) = (end, .start(since: end))
      case .reset: Issue.record("Everything is listed again.")
      }
    }
    for _ in 1...3 { try await turn() }
    let error = await #expect(throws: SyncError.self) { try await turn() }
    #expect(error?.code == .remoteUnavailable)
    try await turn()
    #expect(token != nil)
    #expect(transport.requests.suffix(3).map { $0.headers["If-None-Match"] } == ["\"a\"", "\"b\"", "\"b\""])
  }

  // MARK: Bytes that are no JSON

  @Test(arguments: [
    "\"n\":NaN", "\"n\":-Infinity", "\"n\":\"a\nb\"", "\"n\":\"\u{1}\"", "\"n\":01", "\"n\":\"\\x\"",
    "\"n\":", "\"n\":{\"a\":+1}",
    "latin",
  ])
  func aRecordWithABadByteIsSetAsideAlone(_ member: String) async throws {
    var flaw = Array(member.utf8)
    if member == "latin" { flaw = Array("\"n\":\"caf".utf8) + [0xE9] + Array("\"".utf8) }
    let api = FakeREST()
    let isBad = Mutex(false)
    let body = flaw
    api.onRequest { _ in
      let rows = [#"{"id":"a"}"#, #"{"id":"c","n":[1,{"x":"]}"}]}"#].map { Array($0.utf8) }
      let bad =
        isBad.withLock { $0 }
        ? Array(#"{"id":"b","#.utf8) + body + Array("}".utf8) : Array(#"{"id":"b"}"#.utf8)
      let list = rows[0] + Array(",".utf8) + bad + Array(",".utf8) + rows[1]
      return HTTPResponse(status: 200, body: Array(#"{"data":["#.utf8) + list + Array("]}".utf8))
    }
    let json = #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","records":"/data"}}}"#
    let source = try RESTSource(RESTAPI(json: Array(json.utf8), named: "api.json"), transport: api)
    let store = InMemoryStore()
    let engine = try await SyncEngine(
      schema: SyncSchema([Entity("items")]), store: store, source: source)
    _ = try await engine.sync()
    isBad.withLock { $0 = true }
    let result = try await engine.sync()
    #expect(result.total.quarantined == 1 && result.failures.isEmpty)
    #expect(store.records(of: "items").map(\.id.key).sorted() == ["a", "b", "c"])
  }

  @Test func aBadByteElsewhereIsThePagesMatter() async throws {
    for body in [#"{"data":[{"id":"a"}],"next":NaN}"#, #"{"data":[{"id":"a"}]"#, "<html>"] {
      let transport = ScriptedTransport(
        HTTPResponse(status: 200, headers: ["Content-Type": "text/html"], body: Array(body.utf8)))
      let json =
        #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","records":"/data","paging":{"next":"/next"}}}}"#
      let source = try RESTSource(RESTAPI(json: Array(json.utf8), named: "api.json"), transport: transport)
      let error = await #expect(throws: SyncError.self) {
        _ = try await source.page(
          PageRequest(entity: Entity("items"), position: .start(since: nil), limit: 5, pass: 1))
      }
      #expect(error?.code == .invalidResponse)
      #expect(error?.message.contains("https://api.test/v1/items, text/html): it begins with") == true)
    }
  }
}
