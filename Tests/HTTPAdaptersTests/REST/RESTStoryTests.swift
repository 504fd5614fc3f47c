import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Answers that look like others", .timeLimit(.minutes(10)))
struct RESTStoryTests {
  /// Answers each request by a function of it.
  private final class Answers: HTTPTransport {
    private let answer: @Sendable (HTTPRequest) -> HTTPResponse
    private let log = Mutex<[HTTPRequest]>([])

    init(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) { self.answer = answer }

    var requests: [HTTPRequest] { log.withLock { $0 } }
    var queries: [String] { requests.map { $0.address.query ?? "" } }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      let count = log.withLock { log in
        log.append(request)
        return log.count
      }
      return count > 3000 ? HTTPResponse(status: 418) : answer(request)
    }
  }

  private static func json(_ text: String, _ headers: HTTPHeaders = [:]) -> HTTPResponse {
    HTTPResponse(status: 200, headers: headers, body: Array(text.utf8))
  }

  /// A mirror of one list, and what its operator is told.
  private struct Mirror {
    let store = InMemoryStore()
    let engine: SyncEngine
    let told = Told()

    init(_ members: String, _ transport: any HTTPTransport, bodyLimit: Int = 1 << 20) async throws {
      let json =
        #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","records":"/data",\#(members)}}}"#
      var options = RESTSource.Options()
      options.bodyLimit = bodyLimit
      let source = try RESTSource(
        RESTAPI(json: Array(json.utf8), named: "api.json"), options: options, transport: transport,
        onAlert: { [told] in told.add($0) })
      engine = try await SyncEngine(schema: SyncSchema(Entity("items")), store: store, source: source)
    }

    /// Syncs, and returns the message of the failure.
    func sync() async throws -> String? { try await engine.sync().failures.first?.error.message }

    var keys: [String] { store.records(of: "items").map(\.id.key).sorted() }
  }

  private final class Told: Sendable {
    private let messages = Mutex<[String]>([])
    func add(_ message: String) { messages.withLock { $0.append(message) } }
    var all: [String] { messages.withLock { $0 } }
  }

  // MARK: Deletions

  /// Deltas often tell of a deleted record by its key alone.
  @Test func aBareTombstoneIsOfTheSelectedRecords() async throws {
    let transport = Answers { request in
      request.address.query == nil
        ? Self.json(
          #"{"data":[{"id":1,"kind":"game"},{"id":2,"kind":"game"},{"id":3,"kind":"ad"}],"token":"1"}"#)
        : Self.json(#"{"data":[{"id":2,"gone":true}],"token":"2"}"#)
    }
    let mirror = try await Mirror(
      #""where":{"pointer":"/kind","equals":"game"},"deleted":"/gone","delta":{"token":"/token","parameter":"token"}"#,
      transport)
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["1", "2"])
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["1"])
  }

  /// APIs that write flags as text, or as numbers in text.
  @Test func aMarkMayBeAFlagInText() async throws {
    let transport = Answers { _ in
      let rows = ["0", "false", "False", "1", "true"].map { #"{"id":"\#($0)","gone":"\#($0)"}"# }
      return Self.json(#"{"data":[\#(rows.joined(separator: ","))]}"#)
    }
    let mirror = try await Mirror(#""deleted":"/gone""#, transport)
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["0", "False", "false"])
  }

  /// Servers in Go and .NET write the zero of their times where there is none.
  @Test(arguments: ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00"])
  func theZeroOfTimesIsNoDeletion(_ zero: String) async throws {
    let transport = Answers { _ in
      Self.json(#"{"data":[{"id":1,"deleted_at":"\#(zero)"},{"id":2,"deleted_at":"2026-04-01T18:00:00Z"}]}"#)
    }
    let mirror = try await Mirror(#""deleted":"/deleted_at""#, transport)
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["1"])
  }

  /// Some APIs answer 200 with null where there is no record.
  @Test func aRecordThatIsNullIsGone() async throws {
    let isThere = Mutex(true)
    let transport = Answers { request in
      if request.address.path == "/v1/items/2" { return Self.json("null") }
      return Self.json(
        isThere.withLock { $0 } ? #"{"data":[{"id":1},{"id":2}],"next":null}"# : #"{"data":[{"id":1}]}"#)
    }
    let mirror = try await Mirror(#""paging":{"next":"/next"},"item":"items/{id}""#, transport)
    #expect(try await mirror.sync() == nil)
    isThere.withLock { $0 = false }
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["1"])
  }

  /// Many APIs set the mark, and leave the time of the last change as it was.
  @Test func aMarkCountsBesideAnEqualVersion() async throws {
    let isDeleted = Mutex(false)
    let transport = Answers { request in
      let mark = isDeleted.withLock { $0 } ? #""2026-04-02T18:00:00Z""# : "null"
      return Self.json(#"{"data":[{"id":1,"at":"2026-04-01T18:00:00Z","deleted_at":\#(mark)}],"token":"1"}"#)
    }
    let mirror = try await Mirror(
      #""version":"/at","deleted":"/deleted_at","delta":{"token":"/token","parameter":"token"}"#, transport)
    for expected in [["1"], [], ["1"], []] {
      isDeleted.withLock { $0 = expected.isEmpty }
      #expect(try await mirror.sync() == nil)
      #expect(mirror.keys == expected)
    }
  }

  /// Servers forget after some weeks which records were deleted.
  @Test func everythingIsListedAfterAMonthWithoutASync() async throws {
    let now = Mutex("Wed, 01 Apr 2026 18:00:00 GMT")
    let transport = Answers { request in
      let date = now.withLock { $0 }
      return request.address.query == nil
        ? Self.json(
          date.contains("Apr") ? #"{"data":[{"id":1},{"id":2}]}"# : #"{"data":[{"id":1}]}"#, ["Date": date])
        : Self.json(#"{"data":[]}"#, ["Date": date])
    }
    let mirror = try await Mirror(#""deleted":"/gone","delta":{"since":"since"}"#, transport)
    for _ in 1...2 { #expect(try await mirror.sync() == nil) }
    #expect(mirror.keys == ["1", "2"] && transport.requests.count == 2)
    now.withLock { $0 = "Fri, 01 May 2026 18:00:00 GMT" }
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["1"])
  }

  // MARK: Pages

  /// A server that gives no more than two records a page, and one page that is too long once.
  @Test func pagesOfAServersOwnSizeAreCountedByOneSize() async throws {
    let transport = Answers { request in
      let values = (request.address.query ?? "").split(separator: "&").compactMap { Int($0.dropFirst(2)) }
      let (page, size) = (values[0], values[1])
      let rows = (page > 5 ? [] : [2 * page - 1, 2 * page]).map { #"{"id":\#($0)}"# }.joined(separator: ",")
      let padding = page == 3 && size == 8 ? String(repeating: " ", count: 2000) : ""
      return Self.json(#"{"data":[\#(rows)]\#(padding)}"#)
    }
    let mirror = try await Mirror(
      #""paging":{"page":"p"},"pageSize":{"parameter":"n","maximum":8}"#, transport, bodyLimit: 1000)
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys.compactMap { Int($0) }.sorted() == Array(1...10))
  }

  /// A relative link is as seen from where the answer came from.
  @Test func aRelativeLinkIsOfTheAddressAfterARedirect() async throws {
    let transport = Answers { request in
      switch request.address.path {
      case "/v1/items": HTTPResponse(status: 301, headers: ["Location": "/v2/all/items"])
      case "/v2/all/items": Self.json(#"{"data":[{"id":1}],"next":"more"}"#)
      case "/v2/all/more": Self.json(#"{"data":[{"id":2}],"next":null}"#)
      default: HTTPResponse(status: 404)
      }
    }
    let mirror = try await Mirror(#""paging":{"next":"/next"}"#, transport)
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["1", "2"])
  }

  /// Some APIs say in each answer that there was no error.
  @Test(arguments: ["0", #""""#, "{}", "false", "[]"])
  func noErrorIsNone(_ errors: String) async throws {
    let transport = Answers { _ in Self.json(#"{"data":[{"id":1}],"error":\#(errors)}"#) }
    let mirror = try await Mirror(#""errors":"/error""#, transport)
    #expect(try await mirror.sync() == nil)
  }

  /// APIs that write numbers as text.
  @Test func aTotalMayBeText() async throws {
    let transport = Answers { _ in Self.json(#"{"data":[{"id":1}],"total":"2"}"#) }
    let mirror = try await Mirror(#""total":"/total""#, transport)
    #expect(try await mirror.sync()?.contains("1 of 2 records") == true)
  }

  @Test(arguments: [
    #"{"cursor":"/next","parameter":"c","more":"/more"}"#, #"{"next":"/next","more":"/more"}"#,
    #"{"link":"next","more":"/more"}"#, #"{"cursor":{"header":"X-Next"},"parameter":"c","more":"/more"}"#,
  ])
  func aFlagWithoutAPlaceIsAnError(_ paging: String) async throws {
    for next in ["", #","next":null"#, #","next":"""#] {
      let transport = Answers { _ in Self.json(#"{"data":[{"id":1}],"more":true\#(next)}"#) }
      let mirror = try await Mirror(#""paging":\#(paging)"#, transport)
      let message = try await mirror.sync() ?? "none"
      #expect(message.contains("(types.items.paging.more)"), "\(message)")
    }
  }

  /// Servers that hide records after they have paged.
  @Test(arguments: ["", #","pageSize":{"parameter":"n","maximum":2}"#])
  func anEmptyPageEndsNoListWhoseFlagSaysMore(_ size: String) async throws {
    let transport = Answers { request in
      let query = request.address.query ?? ""
      if query.contains("p=1") { return Self.json(#"{"data":[{"id":1},{"id":2}],"more":true}"#) }
      if query.contains("p=2") { return Self.json(#"{"data":[],"more":true}"#) }
      return Self.json(#"{"data":[{"id":3}],"more":false}"#)
    }
    let mirror = try await Mirror(#""paging":{"page":"p","more":"/more"}\#(size)"#, transport)
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["1", "2", "3"])
  }

  /// Some cursors never end, and lead to themselves behind the last record.
  @Test(arguments: [
    #"{"cursor":"/next","parameter":"c"}"#, #"{"next":"/link"}"#, #"{"link":"next"}"#,
  ])
  func anEmptyPageThatLeadsToItselfIsTheEnd(_ paging: String) async throws {
    let transport = Answers { request in
      let isFirst = request.address.query == nil
      return Self.json(
        #"{"data":[\#(isFirst ? #"{"id":1}"# : "")],"next":"z","link":"?c=z"}"#, ["Link": "<?c=z>; rel=next"])
    }
    let mirror = try await Mirror(#""paging":\#(paging)"#, transport)
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["1"] && transport.requests.count == 2)
  }

  /// A description without pages, for a list that has some.
  @Test func aListThatLeadsOnIsNotWholeWithoutPages() async throws {
    let transport = Answers { _ in Self.json(#"{"data":[{"id":1}]}"#, ["Link": "<?page=2>; rel=\"next\""]) }
    let mirror = try await Mirror(#""id":"/id""#, transport)
    #expect(try await mirror.sync()?.contains("types.items.paging is not described") == true)
  }

  /// A proxy may answer so while a server is away.
  @Test func aPageForPeopleThatEndsAListIsTold() async throws {
    for type in ["text/html", "application/json"] {
      let transport = Answers { request in
        request.address.query == "p=1"
          ? Self.json(#"{"data":[{"id":1}]}"#)
          : HTTPResponse(status: 404, headers: ["Content-Type": type], body: Array("<html>".utf8))
      }
      let mirror = try await Mirror(#""paging":{"page":"p"}"#, transport)
      #expect(try await mirror.sync() == nil)
      #expect(mirror.told.all.contains { $0.contains("after 1 record") } == (type == "text/html"))
    }
  }

  /// The page before it has named a page, and an answer without a body does not say what follows.
  @Test(arguments: [#"{"cursor":"/next","parameter":"c"}"#, #"{"next":"/link"}"#], [true, false])
  func anAnswerWithoutABodyEndsNoListWhoseBodyLeadsOn(_ paging: String, hasTotal: Bool) async throws {
    let isCut = Mutex(true)
    let transport = Answers { request in
      let total = hasTotal ? #","total":1"# : ""
      if request.address.query == nil {
        return Self.json(#"{"data":[{"id":1}],"next":"z","link":"?c=z"\#(total)}"#)
      }
      if isCut.withLock({ $0 }) { return HTTPResponse(status: 204) }
      return Self.json(#"{"data":[{"id":2}],"next":null,"link":null}"#)
    }
    let mirror = try await Mirror(
      #""paging":\#(paging)\#(hasTotal ? #","total":"/total""# : "")"#, transport)
    let told = try await mirror.sync()
    #expect(hasTotal ? told == nil : told?.contains("204") == true, "\(told ?? "")")
    if hasTotal { return }
    isCut.withLock { $0 = false }
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["1", "2"])
  }

  /// What moved in one of several lists may be missing, whatever the lists after it show.
  @Test(arguments: [#"{"offset":"o"}"#, #"{"page":"p"}"#])
  func aListThatMovedIsReadAgainWhereOthersFollow(_ paging: String) async throws {
    let reads = Mutex(0)
    let transport = Answers { request in
      let query = request.address.query ?? ""
      let date: HTTPHeaders = ["Date": "Wed, 01 Apr 2026 18:00:00 GMT"]
      if query.contains("league=b") { return Self.json(#"{"data":[]}"#, date) }
      let isFirst = reads.withLock { reads in
        defer { reads += 1 }
        return reads == 0
      }
      // After the first page, 1 and 2 are changed, and go to the end.
      var rows = isFirst ? [1, 2, 3, 4, 5, 6] : [3, 4, 5, 6, 1, 2]
      if query.contains("since") { rows = [1, 2] }
      let values = query.split(separator: "&").filter { $0.hasPrefix("o=") || $0.hasPrefix("p=") }
        .compactMap { Int($0.dropFirst(2)) }
      let skip = query.contains("o=") ? values[0] : (values[0] - 1) * 2
      let slice = rows.dropFirst(skip).prefix(2).map { #"{"id":\#($0)}"# }
      return Self.json(#"{"data":[\#(slice.joined(separator: ","))]}"#, date)
    }
    let mirror = try await Mirror(
      #""each":{"parameter":"league","values":["a","b"]},"paging":\#(paging),"pageSize":{"parameter":"n","maximum":2},"delta":{"since":"since"}"#,
      transport)
    for _ in 1...2 { #expect(try await mirror.sync() == nil) }
    #expect(mirror.keys == ["1", "2", "3", "4", "5", "6"])
  }

  /// The words of an answer may be about something else, and no one knows why nothing is sent.
  @Test func aRefusalThatIsTakenForALimitIsTold() async throws {
    let transport = Answers { _ in
      HTTPResponse(status: 403, body: Array(#"{"message":"You may not edit the rate limit."}"#.utf8))
    }
    let mirror = try await Mirror(#""id":"/id""#, transport)
    await #expect(throws: SyncError.self) { _ = try await mirror.sync() }
    #expect(mirror.told.all.contains { $0.contains("edit the rate limit") }, "\(mirror.told.all)")
  }

  // MARK: Parts

  /// A slash in a key would be another path, and one that is encoded leads nowhere on most servers.
  @Test func aKeyOfSeveralPartsIsAPath() async throws {
    let isThere = Mutex(true)
    let transport = Answers { request in
      if request.address.path == "/v1/days/a%2Fb/2" { return Self.json(#"{"user":"a/b","day":2}"#) }
      if request.address.path != "/v1/items" { return HTTPResponse(status: 404) }
      let second = isThere.withLock { $0 } ? #",{"user":"a/b","day":2},{"user":"..","day":3}"# : ""
      return Self.json(#"{"data":[{"user":"a/b","day":1}\#(second)]}"#)
    }
    let mirror = try await Mirror(
      #""id":["/user","/day"],"paging":{"next":"/next"},"item":"days/{id}""#, transport)
    #expect(try await mirror.sync() == nil)
    isThere.withLock { $0 = false }
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys == ["a~1b/1", "a~1b/2"])
    #expect(transport.requests.map(\.address.path).contains("/v1/days/a%2Fb/2"))
  }

  /// Some deltas show of a changed record its key and what has changed alone.
  @Test func aPartOfARecordInADeltaIsLookedUp() async throws {
    let whole = #"{"id":1,"kind":"mail","name":"A","read":true,"at":"2026-04-02T18:00:00Z"}"#
    let transport = Answers { request in
      if request.address.path == "/v1/items/1" { return Self.json(whole) }
      return request.address.query == nil
        ? Self.json(
          #"{"data":[{"id":1,"kind":"mail","name":"A","read":false,"at":"2026-04-01T18:00:00Z"}],"token":"1"}"#
        )
        : Self.json(#"{"data":[{"id":1,"read":true}],"token":"2"}"#)
    }
    let members =
      #""where":{"pointer":"/kind","equals":"mail"},"version":"/at","delta":{"token":"/token","parameter":"token"}"#
    let mirror = try await Mirror(members + #","item":"items/{id}""#, transport)
    for _ in 1...2 { #expect(try await mirror.sync() == nil) }
    #expect(
      mirror.store.records(of: "items").map { String(decoding: $0.payload.bytes, as: UTF8.self) } == [whole])
    let blind = try await Mirror(members, transport)
    for _ in 1...2 { #expect(try await blind.sync() == nil) }
    #expect(blind.told.all.contains { $0.contains("types.items.item") }, "\(blind.told.all)")
  }

  /// A server that limits requests lets a page of changes with many parts through bit by bit.
  @Test func aPauseAmongThePartsOfADeltaDoesNotBeginThePageAnew() async throws {
    let looks = Mutex(0)
    let transport = Answers { request in
      if request.address.path != "/v1/items" {
        return looks.withLock { looks in
          looks += 1
          if looks.isMultiple(of: 4) { return HTTPResponse(status: 429, headers: ["Retry-After": "1"]) }
          let id = request.address.path.split(separator: "/").last ?? ""
          return Self.json(#"{"id":\#(id),"read":true,"at":"2026-04-02T18:00:00Z"}"#)
        }
      }
      let rows = (1...12).map { #"{"id":\#($0),"read":true}"# }.joined(separator: ",")
      return request.address.query == nil
        ? Self.json(#"{"data":[],"token":"1"}"#) : Self.json(#"{"data":[\#(rows)],"token":"2"}"#)
    }
    let mirror = try await Mirror(
      #""version":"/at","delta":{"token":"/token","parameter":"token"},"item":"items/{id}""#, transport)
    for _ in 1...2 { #expect(try await mirror.sync() == nil) }
    #expect(mirror.keys.count == 12)
    #expect(looks.withLock { $0 } == 15, "12 looks and 3 refusals")
  }

  /// The order of rows with equal times is another for each page, so that one comes twice and one never.
  @Test(arguments: [#"{"page":"p"}"#, #"{"next":"/next"}"#])
  func aListThatRepeatsARecordIsReadAgainWithoutATotal(_ paging: String) async throws {
    let isStable = Mutex(false)
    let transport = Answers { request in
      let date: HTTPHeaders = ["Date": "Wed, 01 Apr 2026 18:00:09 GMT"]
      let query = request.address.query ?? ""
      if query.contains("since=") { return Self.json(#"{"data":[]}"#, date) }
      let page = query.contains("p=3") ? 3 : query.contains("p=2") ? 2 : 1
      let keys = page == 1 ? [1, 2] : page == 3 ? [] : isStable.withLock { $0 } ? [3, 4] : [2, 4]
      let rows = keys.map { #"{"id":\#($0)}"# }.joined(separator: ",")
      let next = page == 1 ? #""items?n=2&p=2""# : "null"
      return Self.json(#"{"data":[\#(rows)],"next":\#(next)}"#, date)
    }
    let mirror = try await Mirror(
      #""paging":\#(paging),"pageSize":{"parameter":"n","maximum":2},"delta":{"since":"since"},"sweepEvery":86400"#,
      transport)
    #expect(try await mirror.sync() == nil)
    isStable.withLock { $0 = true }
    for _ in 1...2 { #expect(try await mirror.sync() == nil) }
    #expect(mirror.keys == ["1", "2", "3", "4"])
  }

  /// Search engines count up to a limit, and lead no further than that.
  @Test func aRefusalBehindAFullPageIsTold() async throws {
    let transport = Answers { request in
      let page = request.address.query?.split(separator: "&").compactMap { Int($0.dropFirst(2)) }.first ?? 1
      let rows = (0..<100).map { #"{"id":"\#(page) \#($0)"}"# }.joined(separator: ",")
      return page <= 10
        ? Self.json(#"{"data":[\#(rows)],"total":1000}"#)
        : HTTPResponse(status: 400, body: Array(#"{"message":"Result window is too large"}"#.utf8))
    }
    let mirror = try await Mirror(
      #""paging":{"page":"p"},"pageSize":{"parameter":"n","maximum":100},"total":"/total""#, transport)
    #expect(try await mirror.sync() == nil)
    #expect(mirror.keys.count == 1000)
    #expect(mirror.told.all.contains { $0.contains("Result window is too large") }, "\(mirror.told.all)")
  }

  /// Two leagues may both have a team 1.
  @Test func aKeyThatTwoListsHaveIsTold() async throws {
    let transport = Answers { request in
      Self.json(#"{"data":[{"id":1,"name":"\#(request.address.query ?? "")"}]}"#)
    }
    let mirror = try await Mirror(#""each":{"parameter":"league","values":["a","b"]}"#, transport)
    #expect(try await mirror.sync() == nil)
    #expect(mirror.told.all.contains { $0.contains("types.items.each") }, "\(mirror.told.all)")
  }

  // MARK: Times

  private static func since(_ query: String) -> String? {
    query.split(separator: "&").first { $0.hasPrefix("since=") }.map {
      String($0.dropFirst(6)).replacing("%3A", with: ":")
    }
  }

  /// Networks that deliver content write their own time over an old answer.
  @Test func anAnswerOfACacheIsAsOldAsItSays() async throws {
    let transport = Answers { _ in
      Self.json(#"{"data":[{"id":1}]}"#, ["Date": "Wed, 01 Apr 2026 18:00:00 GMT", "Age": "3600"])
    }
    let mirror = try await Mirror(#""delta":{"since":"since","overlap":60}"#, transport)
    #expect(try await mirror.sync() == nil)
    #expect(try await mirror.sync() == nil)
    let since = transport.queries.last.flatMap(Self.since) ?? ""
    #expect(since.hasPrefix("2026-04-01T16:58:"), "\(since)")
  }

  /// A server that tells its local time, without the zone.
  @Test func aServersClockIsNoLaterThanItsDate() async throws {
    let transport = Answers { _ in
      Self.json(
        #"{"data":[{"id":1}],"now":"2026-04-01 20:00:00"}"#, ["Date": "Wed, 01 Apr 2026 18:00:00 GMT"])
    }
    let mirror = try await Mirror(#""delta":{"since":"since","overlap":60,"clock":"/now"}"#, transport)
    #expect(try await mirror.sync() == nil)
    #expect(try await mirror.sync() == nil)
    let since = transport.queries.last.flatMap(Self.since) ?? ""
    #expect(since <= "2026-04-01T17:59:00Z", "\(since)")
  }

  /// This machine's clock may be wrong.
  @Test func spansEndAtTheServersClock() async throws {
    let transport = Answers { request in
      HTTPResponse(
        status: 200,
        body: request.method == "HEAD"
          ? [] : Array(#"{"data":[{"id":1}],"now":"2026-04-01T18:00:00Z"}"#.utf8))
    }
    let mirror = try await Mirror(
      #""delta":{"since":"since","until":"until","window":86400,"overlap":60,"clock":"/now","start":"2026-04-01T00:00:00Z"}"#,
      transport)
    #expect(try await mirror.sync() == nil)
    #expect(try await mirror.sync() == nil)
    #expect(
      transport.queries.last?.contains("until=2026-04-01T18%3A00%3A00Z") == true, "\(transport.queries)")
    let without = Answers { _ in HTTPResponse(status: 200, body: Array(#"{"data":[{"id":1}]}"#.utf8)) }
    let other = try await Mirror(
      #""delta":{"since":"since","until":"until","window":86400,"overlap":60,"start":"2026-04-01T00:00:00Z"}"#,
      without)
    #expect(try await other.sync()?.contains("sends no Date") == true)
  }
}
