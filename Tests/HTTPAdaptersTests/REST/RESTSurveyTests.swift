import CanonicalSyncTestServers
import HTTPAdapters
import SyncModels
import Testing

@Suite("A look at a JSON API before it is mirrored", .timeLimit(.minutes(10)))
struct RESTSurveyTests {
  private static func survey(_ members: String, _ transport: any HTTPTransport) async throws -> RESTSurvey {
    let json =
      #"{"base":"https://api.test/v1/","types":{"items":{"path":"items","records":"/data","id":"/id",\#(members)}}}"#
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
    // A page, the next one, and what has changed.
    #expect(api.requests.count <= 3)
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
    #expect(notes.contains("A first sync of 250 records takes about 51 requests with 5 records each."))
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
