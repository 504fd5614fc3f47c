import HTTPAdapters
import SyncConformance
import SyncJSON
import SyncModels
import Testing

@Suite("A JSON API as a source and a sink", .timeLimit(.minutes(10)))
struct RESTConformanceTests {
  /// A style of an API: how pages follow, and how changes are asked for.
  struct Style: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var paging: RESTAPI.Paging?
    var delta: RESTAPI.Delta?
  }

  private static let pagings: [(String, RESTAPI.Paging)] = [
    ("links", .link("next")), ("addresses", .next("/meta/next")),
    ("cursors", .cursor("/meta/cursor", parameter: "cursor")), ("pages", .page("page")),
    ("offsets", .offset("offset")),
  ]
  private static let deltas: [(String, RESTAPI.Delta?)] = [
    ("times", .since("updated_since", format: .milliseconds, overlap: .seconds(5))),
    ("tokens", .token("/meta/sync_token", parameter: "sync_token")), ("tags", .etag), ("no deltas", nil),
  ]
  static let styles = pagings.flatMap { paging in
    deltas.map { delta in
      Style(testDescription: "\(paging.0) and \(delta.0)", paging: paging.1, delta: delta.1)
    }
  }

  static func collection(_ style: Style) -> RESTAPI.Collection {
    var items = RESTAPI.Collection(SourceHarness.entity, path: "items")
    items.records = "/data"
    items.version = "/updated_at"
    items.deleted = "/deleted"
    items.paging = style.paging
    items.pageSize = RESTAPI.PageSize("limit", maximum: 1000)
    items.delta = style.delta
    items.item = "items/{id}"
    return items
  }

  static func source(_ style: Style, over api: FakeREST) throws(SyncError) -> RESTSource {
    try RESTSource(
      RESTAPI(base: FakeREST.base, collections: [collection(style)]), transport: api)
  }

  @Test(arguments: styles, SourceCheck.allCases)
  func keepsThePromisesOfASource(_ style: Style, _ check: SourceCheck) async throws {
    let api = FakeREST()
    var harness = SourceHarness(
      source: try Self.source(style, over: api), upsert: { api.put($0, $1) }, delete: { api.put($0, nil) })
    harness.reopen = { try Self.source(style, over: api) }
    harness.settle = { api.pass(60_000) }
    if case .since = style.delta {
      harness.voidTokens = { api.restore() }
      harness.beginUpsert = { key, value in
        let commit = api.begin(key, value)
        api.pass(1000)
        return commit
      }
    }
    // Truncated JSON spoils the whole body around it: no server sends it among records.
    harness.putMalformed = nil
    let outcome = try await check.run(on: harness)
    if case .skipped(let reason) = outcome { try Test.cancel("\(reason)") }
  }

  @Test(arguments: [RESTAPI.Precondition.etag, .version], SinkCheck.allCases)
  func keepsThePromisesOfASink(_ precondition: RESTAPI.Precondition, _ check: SinkCheck) async throws {
    let api = FakeREST(keepsDeleted: false)
    @Sendable func opened() throws -> RESTSource {
      var items = Self.collection(Self.styles[0])
      items.push = RESTAPI.Push(
        write: RESTAPI.Request("PUT", "items/{id}"), delete: RESTAPI.Request("DELETE", "items/{id}"),
        precondition: precondition)
      return try RESTSource(RESTAPI(base: FakeREST.base, collections: [items]), transport: api)
    }
    let source = try opened()
    var harness = SinkHarness(
      sink: RESTSink(source), upsert: { api.put($0, $1) }, delete: { api.put($0, nil) },
      read: { key in
        try await source.lookup([RecordID(type: "items", key: key)], of: SinkHarness.entity).first
      })
    harness.reopen = { RESTSink(try opened()) }
    harness.remembersWhatIsGone = false
    harness.serverManagedFields = source.capabilities.serverManagedFields
    let outcome = try await check.run(on: harness)
    if case .skipped(let reason) = outcome { try Test.cancel("\(reason)") }
  }
}
