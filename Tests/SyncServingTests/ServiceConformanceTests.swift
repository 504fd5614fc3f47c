import CanonicalSync
import KintoAdapters
import SyncAdapters
import SyncConformance
import SyncServing
import Testing

/// This package's own client keeps its promises against the service, as against Kinto.
@Suite("A service as a remote", .timeLimit(.minutes(10)))
struct ServiceConformanceTests {
  /// The service refuses what Kinto refuses, sets its own times, stores only JSON, and lists no keys
  /// alone. It has no late commits, and a store that is replaced is another one.
  private static let inapplicable: Set<SourceCheck> = [
    .recordsAreReadWhole, .lookupTakesAnyKey, .malformedRecordComesInItsPlace, .malformedRecordsMayFillAPage,
    .voidTokenIsNoError, .lateCommitIsFound, .keysAreListedWithTheirVersions,
  ]

  @Test(
    arguments: Set(SourceCheck.allCases).subtracting(inapplicable).sorted { $0.rawValue < $1.rawValue },
    ServedKind.present)
  func keepsThePromisesOfASource(_ check: SourceCheck, on kind: ServedKind) async throws {
    try await ServedStore.with(kind) { served in
      let service = try await served.service()
      let transport = ServiceTransport(service: service)
      let path = "/v1/buckets/b/collections/items/records"
      var harness = try SourceHarness(
        source: transport.source(),
        upsert: { key, value in
          let answer = await service.ask("PUT", "\(path)/\(key)", #"{"data":{"value":\#(value)}}"#)
          #expect((200...201).contains(answer.status), "\(answer)")
        },
        delete: { #expect(await service.ask("DELETE", "\(path)/\($0)").status == 200) })
      harness.reopen = { try ServiceTransport(service: service).source() }
      let outcome = try await check.run(on: harness)
      if case .skipped(let reason) = outcome { Issue.record("\(reason)") }
    }
  }

  @Test(
    arguments: Set(SinkCheck.allCases).subtracting([.everyChangeHasItsOutcome]).sorted {
      $0.rawValue < $1.rawValue
    }, ServedKind.present)
  func keepsThePromisesOfASink(_ check: SinkCheck, on kind: ServedKind) async throws {
    try await ServedStore.with(kind) { served in
      let service = try await served.service()
      let source = try ServiceTransport(service: service).source()
      let path = "/v1/buckets/b/collections/items/records"
      var harness = SinkHarness(
        sink: KintoSink(source),
        upsert: { _ = await service.ask("PUT", "\(path)/\($0)", #"{"data":{"value":\#($1)}}"#) },
        delete: { _ = await service.ask("DELETE", "\(path)/\($0)") },
        read: { try await source.lookup([RecordID(type: "items", key: $0)], of: SinkHarness.entity).first })
      harness.remembersWhatIsGone = false
      harness.serverManagedFields = source.capabilities.serverManagedFields
      harness.reopen = { KintoSink(try ServiceTransport(service: service).source()) }
      let outcome = try await check.run(on: harness)
      if case .skipped(let reason) = outcome {
        #expect(
          check == .creationSentAgainBringsNothingBack || SinkCheck.ofGroups.contains(check), "\(reason)")
        try Test.cancel("\(reason)")
      }
    }
  }
}
