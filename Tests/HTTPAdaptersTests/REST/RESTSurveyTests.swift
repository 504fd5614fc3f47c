import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import SyncModels
import Testing

@Suite("A look at a JSON API before it is mirrored", .timeLimit(.minutes(10)))
struct RESTSurveyTests {
  private static func survey(_ members: String, _ transport: any HTTPTransport) async throws -> RESTSurvey {
    let json =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","records":"/data",\#(members)}}}"#
    return try await RESTSource(RESTAPI(json: Array(json.utf8), named: "api.json"), transport: transport)
      .survey("items", pageSize: 100)
  }

  private static func filled() -> FakeREST {
    let api = FakeREST()
    for number in 0..<250 { api.put("k\(number)", 0) }
    return api
  }

  @Test(arguments: FakeREST.styles)
  func findsNothingWrongWithASoundDescription(_ style: FakeREST.Style) async throws {
    let api = Self.filled()
    let source = try api.source(style)
    let survey = try await source.survey("items", pageSize: 100)
    #expect(survey.problems == [])
    #expect(survey.notes.contains("100 records on the first page, at /data."))
    // A page, the next one, what has changed, also since the newest version, one record, and an unknown
    // parameter.
    #expect(api.requests.count <= 6)
  }

  /// Parameters that the API ignores.
  @Test(arguments: [
    (
      #""paging":{"cursor":"/meta/cursor","parameter":"cusror"},"pageSize":{"parameter":"limit"}"#,
      "The second page is the first one again; does types.items.paging name a parameter of the API?"
    ),
    (
      #""paging":{"page":"pgae"},"pageSize":{"parameter":"limit"}"#,
      "The second page is the first one again; does types.items.paging name a parameter of the API?"
    ),
    (
      #""paging":{"offset":"skip"},"pageSize":{"parameter":"limit"}"#,
      "The second page is the first one again; does types.items.paging name a parameter of the API?"
    ),
    (
      #""paging":{"next":"/meta/next"},"delta":{"since":"changed_since"}"#,
      #"A request for changes gets the same 5 records as one for everything; is "changed_since" a parameter of the API (types.items.delta.since)?"#
    ),
    (
      #""paging":{"next":"/meta/next"},"delta":{"token":"/meta/sync_token","parameter":"tokn"}"#,
      #"A request for changes gets the same 5 records as one for everything; is "tokn" a parameter of the API (types.items.delta)?"#
    ),
  ])
  func findsParametersThatTheServerIgnores(_ members: String, _ problem: String) async throws {
    #expect(try await Self.survey(members, Self.filled()).problems == [problem])
  }

  @Test(arguments: [
    ("2026-10-25T02:30:00", true), ("2026-10-25 02:30", true), ("2026-10-25T02:30:00Z", false),
    ("2026-10-25T02:30:00+01:00", false), ("2026-10-25", false),
  ])
  func tellsThatTimesHaveNoZone(_ time: String, _ isTold: Bool) async throws {
    let page = #"{"data":[{"id":1,"at":"\#(time)"}]}"#
    let survey = try await Self.survey(
      #""version":"/at""#, ScriptedTransport(HTTPResponse(status: 200, body: Array(page.utf8))))
    #expect(survey.problems == [])
    let note = "/at (types.items.version) has times without a zone"
    #expect(survey.notes.contains { $0.hasPrefix(note) } == isTold)
  }

  @Test func findsParametersThatTheServerRefuses() async throws {
    let first = HTTPResponse(
      status: 200, headers: ["Date": "Tue, 24 Nov 2026 10:00:00 GMT"],
      body: Array(#"{"data":[{"id":1},{"id":2}],"next":"c2"}"#.utf8))
    let refused = ScriptedTransport(first, HTTPResponse(status: 422), HTTPResponse(status: 400))
    let problems = try await Self.survey(
      #""paging":{"cursor":"/next","parameter":"c"},"delta":{"since":"s"}"#, refused
    ).problems
    #expect(
      problems == [
        "The server answers 422 to a request for the second page (types.items.paging).",
        "The server answers 400 to a request for changes (types.items.delta.since).",
      ])
  }

  @Test func findsParametersThatTheServerFailsOn() async throws {
    let first = HTTPResponse(
      status: 200, headers: ["Date": "Tue, 24 Nov 2026 10:00:00 GMT"],
      body: Array(#"{"data":[{"id":1}]}"#.utf8))
    let delta = #""delta":{"since":"s"}"#
    let failed = try await Self.survey(delta, ScriptedTransport(first, HTTPResponse(status: 500)))
    #expect(failed.problems == ["The server answers 500 to a request for changes (types.items.delta.since)."])
    let ended = try await Self.survey(delta, ScriptedTransport(first))
    let problem = "A request for changes fails (types.items.delta.since): "
    #expect(ended.problems.first?.hasPrefix(problem) == true)
  }

  @Test func tellsThatPagesAreSmallerThanIsAskedFor() async throws {
    let notes = try await Self.survey(
      #""paging":{"next":"/meta/next"},"pageSize":{"parameter":"lmiit"},"total":"/meta/total""#, Self.filled()
    ).notes
    #expect(
      notes.contains(
        "The API gives 5 records where 100 are asked for. That may be its most; otherwise, is \"lmiit\" a parameter?"
      ))
    #expect(notes.contains("A first sync of 250 records takes about 50 requests with 5 records each."))
  }

  @Test func findsWhatOtherRequestsOfTheMirrorWouldMeet() async throws {
    func problems(_ members: String, _ answers: HTTPResponse...) async throws -> [String] {
      try await Self.survey(members, ScriptedTransport(answers)).problems
    }
    let page = HTTPResponse(
      status: 200, headers: ["Date": "Tue, 24 Nov 2026 10:00:00 GMT"],
      body: Array(
        #"{"data":[{"id":1,"at":"2026-01-01T00:00:00Z"},{"id":2,"at":"2026-01-02T00:00:00Z"}]}"#.utf8))
    let nothing = HTTPResponse(
      status: 200, headers: ["Date": "Tue, 24 Nov 2026 10:00:00 GMT"], body: Array(#"{"data":[]}"#.utf8))
    #expect(
      try await problems(#""version":"/at","delta":{"since":"since"}"#, page, nothing, nothing) == [
        #"A request for changes since a moment before the newest version of the first page, that of 2, lacks that record; does "since" have the layout that the API reads (types.items.delta.since)?"#
      ])
    #expect(
      try await problems(#""item":"item/{id}""#, page, HTTPResponse(status: 404)) == [
        "There is nothing at item/{id} (types.items.item) for 1, which the list has."
      ])
    #expect(
      try await problems(
        #""push":{"write":"PUT items/{id}","precondition":"etag"}"#, page,
        HTTPResponse(status: 200, body: Array(#"{"id":1}"#.utf8))) == [
          #"A record comes with no ETag, so types.items.push.precondition cannot be "etag"."#
        ])
    #expect(
      try await problems(#""where":{"pointer":"/kind","equals":"game"}"#, page) == [
        "No element has what /kind (types.items.where) has to be; is it the right member?"
      ])
  }

  /// The check describes each member of a description.
  @Test(arguments: [
    (#""where":{"pointer":"/id","equals":1}"#, "1 of them is of the type."),
    (#""headers":{"X-Org":"a","Accept":"b"}"#, "Requests for it have the headers Accept, X-Org."),
    (#""request":{"body":{"q":1}},"errors":"/errors""#, "The list is asked for by POST, with a body."),
    (#""errors":"/errors""#, "An answer with anything at /errors is a failure."),
    (#""id":["/id","/n"]"#, "A key has 2 parts."),
    (#""version":{"pointer":"/n","layout":"number"}"#, "Versions are read as number."),
    (
      #""paging":{"cursor":"/c","parameter":"c","first":"*","more":"/more"}"#,
      #"The first page is asked for at "*"."#
    ),
    (
      #""paging":{"cursor":"/c","parameter":"c","more":"/more"}"#,
      "/more (types.items.paging.more) says that no page follows."
    ),
    (
      #""delta":{"since":"s","template":"gte.{since}","layout":"yyyy-MM-dd HH:mm","overlap":90}"#,
      #"It is sent as yyyy-MM-dd HH:mm in "gte.{since}", 90 s earlier than it is, for late commits."#
    ),
    (
      #""delta":{"since":"s","until":"u","window":3600,"start":"2026-01-01T00:00:00Z"}"#,
      #"Spans of 3600 s at most follow each other, the first one from "start"."#
    ),
    (#""push":{"write":"PUT i/{id}","body":"/item","atOnce":3}"#, "A sent record is wrapped in /item."),
    (#""push":{"write":"PUT i/{id}","reason":"/why"}"#, "The reason of a refusal is read at /why."),
    (#""push":{"write":"PUT i/{id}","atOnce":1}"#, "Up to 1 edit is sent side by side."),
    (#""each":{"parameter":"l","values":["a","b"]}"#, #"There is one list for each of 2 values of "l"."#),
    (
      #""query":{"status":"open"},"deleted":"/gone","delta":{"since":"since"}"#,
      "A record that leaves what types.items.query selects shows in no change; types.items.sweepEvery would find it."
    ),
  ])
  func tellsOfEachMember(_ members: String, _ note: String) async throws {
    let api = FakeREST()
    api.onRequest { _ in
      HTTPResponse(
        status: 200, headers: ["Date": "Tue, 24 Nov 2026 10:00:00 GMT"],
        body: Array(#"{"data":[{"id":1,"n":1},{"id":2,"n":2}]}"#.utf8))
    }
    let notes = try await Self.survey(members, api).notes
    #expect(notes.contains(note), "\(notes)")
  }

  @Test func tellsOfWhatAllTypesHave() async throws {
    let json =
      #"{"base":"https://api.test/v1/","auth":{"header":{"name":"X-Key","value":"env:SURVEY_KEY"}},"account":{"path":"me","id":"/id"},"pace":{"requests":90,"seconds":60},"headers":{"Api-Version":"2"},"keepsUnknownMembers":true,"types":{"items":{"path":"items"}}}"#
    setenv("SURVEY_KEY", "k", 1)
    func access(_ json: String, _ answer: HTTPResponse) async throws -> RESTSurvey {
      try await RESTSource(
        RESTAPI(json: Array(json.utf8), named: "api.json"), transport: ScriptedTransport(answer)
      ).surveyAccess()
    }
    let found = try await access(json, HTTPResponse(status: 200, body: Array(#"{"id":7}"#.utf8)))
    #expect(found.problems == [])
    #expect(
      found.notes == [
        "Requests carry credentials in X-Key.",
        "Requests have the headers Api-Version.", "At most 90 requests are sent in 60.0 seconds.",
        "Edits are stamped, in members that the API is said to keep (keepsUnknownMembers).",
        "The data are those of the account 7 (account).",
      ])
    let wrong = try await access(json, HTTPResponse(status: 200, body: Array("{}".utf8)))
    #expect(wrong.problems == ["/id (account.id) leads to nothing; expected is the account's id."])
    let plain = #"{"base":"https://api.test/v1/","types":{"items":{"path":"items"}}}"#
    #expect(try await access(plain, HTTPResponse(status: 200)).notes == ["Requests carry no credentials."])
  }

  @Test func blamesNoDescriptionForAPause() async throws {
    let survey = try await Self.survey(
      #""paging":{"cursor":"/next","parameter":"c"},"delta":{"token":"/next","parameter":"t"}"#,
      ScriptedTransport(
        HTTPResponse(status: 200, body: Array(#"{"data":[{"id":1}],"next":"n"}"#.utf8)),
        HTTPResponse(status: 429, headers: ["Retry-After": "7"])))
    #expect(survey.problems == [])
    #expect(
      survey.notes.suffix(2) == [
        "A request for the second page was not tried: the server asks for a pause.",
        "A request for changes was not tried: the server asks for a pause.",
      ])
  }

  @Test func findsTagsThatSaveNothing() async throws {
    let page = HTTPResponse(
      status: 200, headers: ["ETag": "\"a\""], body: Array(#"{"data":[{"id":1}]}"#.utf8))
    let problems = try await Self.survey(#""delta":{"etag":true}"#, ScriptedTransport(page, page)).problems
    #expect(
      problems == ["The API sends an unchanged page again, whatever its ETag (types.items.delta)."])
  }

  @Test func tellsThatAnAPIThatAssignsIDsIsOnlyRead() async throws {
    let notes = try await Self.survey(#""paging":{"next":"/meta/next"}"#, Self.filled()).notes
    #expect(
      notes.contains(
        "Edits cannot be pushed: the description has no \"push\"."
      ))
  }
}
