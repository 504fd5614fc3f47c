import CanonicalSyncTestServers
import HTTPAdapters
import KintoAdapters
import SyncConformance
import Testing

@Suite(
  "A real Kinto as a source", .enabled(if: RealKinto.address != nil, "Tests/run --all starts the server."),
  .timeLimit(.minutes(10)))
struct RealKintoConformanceTests {
  /// Checks that do not apply: the server accepts no such keys, sets its own times, stores only
  /// JSON, and lists no keys alone.
  private static let inapplicable: Set<SourceCheck> = [
    .recordsAreReadWhole, .lookupTakesAnyKey, .malformedRecordComesInItsPlace,
    .malformedRecordsMayFillAPage, .voidTokenIsNoError, .lateCommitIsFound, .keysAreListedWithTheirVersions,
  ]

  @Test(arguments: Set(SourceCheck.allCases).subtracting(inapplicable).sorted { $0.rawValue < $1.rawValue })
  func keepsThePromisesOfASource(_ check: SourceCheck) async throws {
    let kinto = try await RealKinto("items")
    var harness = try SourceHarness(
      source: kinto.source(), upsert: { try await kinto.put("items", $0, "\"value\":\($1)") },
      delete: { try await kinto.delete("items", $0) })
    harness.reopen = { try kinto.source() }
    let outcome = try await check.run(on: harness)
    if case .skipped(let reason) = outcome { Issue.record("\(reason)") }
  }
}
