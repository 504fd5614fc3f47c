import CanonicalSyncTestServers
import HTTPAdapters
import SyncConformance
import SyncJSON
import SyncModels
import Testing

@Suite("A JSON API as a source and a sink", .timeLimit(.minutes(10)))
struct RESTConformanceTests {
  @Test(arguments: FakeREST.styles, SourceCheck.allCases)
  func keepsThePromisesOfASource(_ style: FakeREST.Style, _ check: SourceCheck) async throws {
    let api = FakeREST()
    var harness = SourceHarness(
      source: try api.source(style), upsert: { api.put($0, $1) }, delete: { api.put($0, nil) })
    harness.reopen = { try api.source(style) }
    harness.settle = { api.pass(60_000) }
    if case .since = style.delta {
      harness.voidTokens = { api.restore() }
      harness.beginUpsert = { key, value in
        let commit = api.begin(key, value)
        api.pass(1000)
        return commit
      }
    }
    // A record without its key. Truncated JSON would spoil the whole body around it.
    harness.malformedBytes = Array(#"{"value":5}"#.utf8)
    harness.putMalformed = { api.putRaw(String(decoding: $0, as: UTF8.self)) }
    guard case .skipped(let reason) = try await check.run(on: harness) else { return }
    #expect(style.inapplicable.contains(check), "\(reason)")
    try Test.cancel("\(reason)")
  }

  @Test(arguments: [RESTAPI.Precondition.etag, .version], SinkCheck.allCases)
  func keepsThePromisesOfASink(_ precondition: RESTAPI.Precondition, _ check: SinkCheck) async throws {
    let api = FakeREST(keepsDeleted: false)
    @Sendable func opened() throws -> RESTSource {
      var items = FakeREST.collection(FakeREST.styles[0])
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
    guard case .skipped(let reason) = try await check.run(on: harness) else { return }
    // A tombstone does not prevent a creation.
    #expect(check == .creationSentAgainBringsNothingBack || SinkCheck.ofGroups.contains(check), "\(reason)")
    try Test.cancel("\(reason)")
  }
}

extension FakeREST.Style {
  /// The checks that do not apply to this style, as it declares. No other check may be skipped.
  ///
  /// The list tells no total, and only times may be void or stand for late commits.
  fileprivate var inapplicable: Set<SourceCheck> {
    let all: Set<SourceCheck> = [.totalCountsTheListing, .keysAreListedWithTheirVersions]
    switch delta {
    case .since: return all
    case .token, .next: return all.union([.voidTokenIsNoError, .lateCommitIsFound])
    case .etag, nil:
      return all.union([
        .voidTokenIsNoError, .lateCommitIsFound, .deletionComesAsTombstone, .deletionsHaveRisingVersions,
      ]).union(delta == nil ? [.deltaOfNothingIsEmpty] : [])
    }
  }
}
