import CanonicalSync
import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import SyncAdapters
import SyncJSON
import Testing

@Suite("The description of a JSON API")
struct RESTDescriptionTests {
  private static func read(_ json: String) throws(SyncError) -> RESTAPI {
    try RESTAPI(json: Array(json.utf8), named: "api.json")
  }

  @Test func saysAllThatItMay() throws {
    let api = try Self.read(
      #"""
      {"base":"https://api.example.com/v1/","auth":{"header":{"name":"X-Api-Key","value":"env:KEY"}},
       "keepsUnknownMembers":true,
       "types":{"teams":{"path":"teams"},
        "games":{"path":"games","query":{"league":"mlb"},"records":"/data","id":"/key","version":"/updated_at",
         "deleted":"/deleted","references":{"home_team_id":"teams"},"indexes":["date"],
         "paging":{"cursor":"/meta/cursor","parameter":"cursor"},"pageSize":{"parameter":"limit","maximum":100},
         "total":"/meta/total","delta":{"since":"updated_since","format":"seconds","overlap":5,"clock":"/meta/now"},
         "sweepEvery":3600,"item":{"path":"games/{id}","record":"/data"},
         "push":{"write":"PUT games/{id}","delete":"DELETE games/{id}","precondition":"etag"}}}}
      """#)
    var games = RESTAPI.Collection(
      Entity("games", references: [.to("teams", by: "home_team_id")], indexes: ["date"]), path: "games")
    games.query = ["league": "mlb"]
    games.records = "/data"
    games.id = "/key"
    games.version = "/updated_at"
    games.deleted = "/deleted"
    games.paging = .cursor("/meta/cursor", parameter: "cursor")
    games.pageSize = RESTAPI.PageSize("limit", maximum: 100)
    games.total = "/meta/total"
    games.delta = .since("updated_since", format: .seconds, overlap: .seconds(5), clock: "/meta/now")
    games.sweepEvery = .seconds(3600)
    games.item = "games/{id}"
    games.itemRecord = "/data"
    games.push = RESTAPI.Push(
      write: RESTAPI.Request("PUT", "games/{id}"), delete: RESTAPI.Request("DELETE", "games/{id}"),
      precondition: .etag)
    var wanted = RESTAPI(
      base: "https://api.example.com/v1/", credentials: .header("X-Api-Key", .environment("KEY")),
      collections: [RESTAPI.Collection(Entity("teams"), path: "teams"), games])
    wanted.keepsUnknownMembers = true
    #expect(api == wanted)
  }

  /// The description of one type, with a member added or replaced.
  private static func type(_ members: String) -> String {
    #"{"base":"https://api.test/","types":{"games":{"path":"games",\#(members)}}}"#
  }

  @Test(arguments: [
    (type(#""recrods":"/data""#), #"types.games.recrods is not a known member; did you mean "records"?"#),
    (
      type(#""records":"data""#),
      #"types.games.records is "data", not a JSON pointer such as /data (RFC 6901)."#
    ),
    (type(#""id":7"#), "types.games.id is a number, not a JSON pointer such as /data."),
    (type(#""version":"/a~b""#), "types.games.version is \"/a~b\", not a JSON pointer"),
    (
      type(#""paging":{"nxt":"/next"}"#),
      #"types.games.paging has the unknown member "nxt"; did you mean "next"?"#
    ),
    (type(#""paging":"next""#), "types.games.paging is text, not an object."),
    (type(#""paging":{"cursor":"/c"}"#), #"types.games.paging lacks "parameter"."#),
    (
      type(#""paging":{"page":"page","offset":"o"}"#),
      #"types.games.paging has both "page" and "offset"; only one is possible."#
    ),
    (
      type(#""pageSize":{"parameter":"limit","maximum":0}"#),
      "types.games.pageSize.maximum must be a whole number"
    ),
    (
      type(#""paging":{"page":"limit"},"pageSize":{"parameter":"limit"}"#),
      #"types.games.pageSize.parameter uses the parameter "limit" a second time."#
    ),
    (
      type(#""delta":{"since":"s","format":"rfc"}"#),
      #"types.games.delta.format is "rfc", not rfc3339, rfc2822"#
    ),
    (
      type(#""delta":{"since":"s","overlap":0}"#),
      "types.games.delta.overlap must be from 0.001 to 86400.0 seconds."
    ),
    (type(#""delta":{"etag":false}"#), "types.games.delta.etag is false; leave it out instead."),
    (type(#""sweepEvery":"1h""#), "types.games.sweepEvery is text, not a number of seconds."),
    (
      type(#""references":{"home":"teams"}"#),
      #"types declares that games.home refers to "teams", which is not declared"#
    ),
    (
      type(#""push":{"write":"POST games"}"#),
      "types.games.push.write lacks {id}, which stands for the record's key. An API that gives records keys"
    ),
    (
      type(#""push":{"write":"games/{id}"}"#),
      "types.games.push.write must be a method (PUT, PATCH, POST) and a path"
    ),
    (type(#""item":"games""#), "types.games.item lacks {id}, which stands for the record's key."),
    (
      #"{"base":"https://api.test/","types":{"games":{"path":"https://other.test/games"}}}"#,
      #"types.games.path is "https://other.test/games", not a path below the base"#
    ),
    (#"{"base":"https://api.test/","types":{"games":{}}}"#, #"types.games lacks "path"."#),
    (#"{"types":{"games":{"path":"games"}}}"#, #"The declaration lacks "base"."#),
    (
      #"{"base":"https://api.test/","auth":{"bearer":"s3cret"},"types":{"games":{"path":"games"}}}"#,
      "auth.bearer must tell where the secret is"
    ),
    (#"{"base":"https://api.test/","types":{}}"#, "types declares no type."),
  ])
  func namesTheWrongMember(_ json: String, _ message: String) {
    let error = #expect(throws: SyncError.self) { _ = try Self.read(json) }
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.description.contains("s3cret") == false)
  }

  /// A wrong description, and what the first page says of it.
  @Test(arguments: [
    (#""records":"/date""#, "/date (types.items.records) leads to nothing; expected is a list of records."),
    (#""records":"/meta""#, "/meta (types.items.records) is an object; expected is a list of records."),
    (#""records":"/meta/next""#, "/meta/next (types.items.records) is text; expected is a list of records."),
    (
      #""records":"/data","id":"/key""#,
      "None of 5 records can be read. In the first one, /key (types.items.id) leads to nothing."
    ),
    (
      #""records":"/data","id":"/more""#,
      "None of 5 records can be read. In the first one, /more (types.items.id) is an object"
    ),
    (
      #""records":"/data","version":"/changed""#,
      "/changed (types.items.version) leads to nothing in any of 5 records."
    ),
    (
      #""records":"/data","version":"/more""#,
      "None of 5 records can be read. In the first one, /more (types.items.version) is an object"
    ),
    (
      #""records":"/data","deleted":"/name""#,
      "None of 5 records can be read. In the first one, /name (types.items.deleted) is neither true"
    ),
    (
      #""records":"/data","paging":{"next":"/data"}"#,
      "/data (types.items.paging.next) is a list; expected is text"
    ),
    (
      #""records":"/data","paging":{"next":"/meta/elsewhere"}"#,
      "types.items.paging.next leads to https://other.test, which is another origin"
    ),
    (
      #""records":"/data","paging":{"cursor":"/meta","parameter":"c"}"#,
      "/meta (types.items.paging.cursor) is an object; expected is text"
    ),
    (
      #""records":"/data","total":"/meta/count""#,
      "/meta/count (types.items.total) leads to nothing; expected is a whole number."
    ),
    (
      #""records":"/data","total":"/meta/next""#,
      "/meta/next (types.items.total) is text; expected is a whole number."
    ),
    (
      #""records":"/data","total":"/meta/total""#,
      "The listing ended after 5 of 9 records (types.items.total); does types.items.paging lead on?"
    ),
    (
      #""records":"/data","delta":{"token":"/meta/token","parameter":"t"}"#,
      "/meta/token (types.items.delta.token) leads to nothing on all 1 page."
    ),
    (
      #""records":"/data","delta":{"since":"s"}"#,
      "The server sends no Date, so types.items.delta needs \"clock\""
    ),
    (
      #""records":"/data","delta":{"since":"s","clock":"/meta/next"}"#,
      "/meta/next (types.items.delta.clock) is text; expected is a time."
    ),
  ])
  func isComparedWithTheFirstPage(_ members: String, _ message: String) async throws {
    let rows = (1...5).map { #"{"id":\#($0),"name":"n","more":{}}"# }.joined(separator: ",")
    let body =
      #"{"data":[\#(rows)],"meta":{"next":"/v1/items?c=2","elsewhere":"https://other.test/","total":9}}"#
    let error = try await Self.failure(members, [HTTPResponse(status: 200, body: Array(body.utf8))])
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
    #expect(error?.operation == "fetching a page of items")
  }

  /// Reads one page or more of a described type, up to the first failure.
  private static func failure(_ members: String, _ answers: [HTTPResponse]) async throws -> SyncError? {
    let api = try read(#"{"base":"https://api.test/v1/","types":{"items":{"path":"items",\#(members)}}}"#)
    let source = try RESTSource(api, transport: ScriptedTransport(answers))
    var position = PullPosition.start(since: nil)
    do throws(SyncError) {
      while true {
        let page = try await source.page(
          PageRequest(entity: Entity("items"), position: position, limit: 5, pass: 1))
        guard case .more(let next, _) = page.next else { return nil }
        position = .resume(next)
      }
    } catch {
      return error
    }
  }

  @Test func noticesPagesThatDoNotLeadOn() async throws {
    func page(_ keys: ClosedRange<Int>, _ meta: String = "{}") -> HTTPResponse {
      let rows = keys.map { #"{"id":\#($0)}"# }.joined(separator: ",")
      return HTTPResponse(status: 200, body: Array(#"{"data":[\#(rows)],"meta":\#(meta)}"#.utf8))
    }
    let same = page(1...5, #"{"cursor":"c1","next":"?c=2"}"#)
    let cursor = #""records":"/data","paging":{"cursor":"/meta/cursor","parameter":"c"}"#
    #expect(
      try await Self.failure(cursor, [same, same])?.message
        == "types.items.paging.cursor leads back to an earlier page, after 10 records.")
    let next = #""records":"/data","paging":{"next":"/meta/next"}"#
    #expect(
      try await Self.failure(next, [same, same])?.message
        == "types.items.paging.next leads back to an earlier page, after 10 records.")
    for member in ["page", "offset"] {
      let message = try await Self.failure(
        #""records":"/data","paging":{"\#(member)":"p"},"pageSize":{"parameter":"limit"}"#, [same, same])?
        .message
      #expect(
        message
          == "The page after 5 records is the page before it again; does types.items.paging name a parameter of the API?"
      )
    }
  }

  @Test func keepsARecordWithoutAKeyBesideTheOthers() async throws {
    let api = try Self.read(
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","references":{"next":"items"}}}}"#)
    let body =
      #"[{"id":12345678901234567890,"next":1},{"name":"x"},{"id":7,"next":8},{"id":"a/b","next":null}]"#
    let source = try RESTSource(
      api, transport: ScriptedTransport(HTTPResponse(status: 200, body: Array(body.utf8))))
    let page = try await source.page(
      PageRequest(entity: api.collections[0].entity, position: .start(since: nil), limit: 5, pass: 1))
    let reasons = page.changes.compactMap { if case .malformed(let flaw) = $0 { flaw.reason } else { nil } }
    #expect(reasons == ["/id (types.items.id) leads to nothing"])
    let records = page.changes.compactMap { if case .upsert(let record) = $0 { record } else { nil } }
    #expect(records.map(\.id.key) == ["12345678901234567890", "7", "a/b"])
    #expect(records.map(\.fields) == [["1"], ["8"], [.null]])
  }

  /// The guide's descriptions are descriptions, and show the APIs that people know.
  @Test func isUsedByTheGuideAsItIs() throws {
    var hosts: [String] = []
    for block in try Self.guide() {
      let api = try Self.read(block)
      hosts.append(HTTPAddress(api.base)?.origin.host ?? api.base)
      _ = try RESTSource(api, transport: ScriptedTransport())
      _ = try api.schema
    }
    let wanted = [
      "api.github.com", "api.stripe.com", "api.notion.com", "db.example.com", "graph.microsoft.com",
      "example.myshopify.com", "couch.example.com", "api.linear.app",
    ]
    #expect(hosts == ["api.example.com"] + wanted)
  }

  /// The whole descriptions of the guide, in their order.
  static func guide() throws -> [String] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    let guide = try String(contentsOf: root.appending(path: "Docs/MirroringAnAPI.md"), encoding: .utf8)
    let blocks = guide.components(separatedBy: "```json\n").dropFirst()
    return blocks.compactMap { $0.components(separatedBy: "\n```").first }.filter { $0.contains("\"base\"") }
  }
}
