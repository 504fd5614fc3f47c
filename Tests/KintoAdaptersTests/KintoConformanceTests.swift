import HTTPAdapters
import KintoAdapters
import SyncConformance
import Testing

@Suite("Kinto as a source", .timeLimit(.minutes(10)))
struct KintoConformanceTests {
  /// Truncated JSON spoils the whole body around it: no server sends it among records. Every record
  /// comes with its content.
  private static let inapplicable: Set<SourceCheck> = [
    .malformedRecordComesInItsPlace, .malformedRecordsMayFillAPage, .keysAreListedWithTheirVersions,
  ]

  @Test(arguments: SourceCheck.allCases)
  func keepsThePromisesOfASource(_ check: SourceCheck) async throws {
    let kinto = FakeKinto()
    @Sendable func source() throws -> KintoSource {
      try KintoSource(server: FakeKinto.server, bucket: "b", transport: kinto)
    }
    var harness = try SourceHarness(
      source: source(), upsert: { kinto.put($0, $1) }, delete: { kinto.put($0, nil) })
    harness.reopen = { try source() }
    harness.settle = { kinto.pass(60_000) }
    harness.voidTokens = { kinto.restore() }
    harness.beginUpsert = { key, value in
      let commit = kinto.begin(key, value)
      kinto.pass(1000)
      return commit
    }
    let outcome = try await check.run(on: harness)
    guard case .skipped(let reason) = outcome else { return }
    #expect(Self.inapplicable.contains(check), "\(reason)")
    try Test.cancel("\(reason)")
  }
}
