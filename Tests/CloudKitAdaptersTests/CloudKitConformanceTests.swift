#if CloudKit && os(Linux)
  import CanonicalSyncTestServers
  import CloudKitAdapters
  import HTTPAdapters
  import InMemoryAdapters
  import SyncConformance
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("CloudKit as a source and as a sink", .timeLimit(.minutes(10)))
  struct CloudKitConformanceTests {
    /// The kinds of services: what is only inferred varies.
    enum Service: String, CaseIterable, Sendable {
      case publicDatabase, publicByOffset, publicWithShortPages, privateZone, privateWithShortPages

      func bench() throws -> CloudKitBench {
        switch self {
        case .publicDatabase: try CloudKitBench(.publicDatabase)
        case .publicByOffset: try CloudKitBench(.publicDatabase) { $0.countsByOffset = true }
        case .publicWithShortPages: try CloudKitBench(.publicDatabase) { $0.hasShortPages = true }
        case .privateZone: try CloudKitBench(.privateZone)
        case .privateWithShortPages:
          try CloudKitBench(.privateZone) {
            $0.hasShortPages = true
            $0.tombstonesHaveType = true
          }
        }
      }
    }

    /// No service sends truncated JSON among records. A public database has no tombstones, and no
    /// listing tells a total; a zone's versions may go back. Times are never void, and a query's
    /// continuation ends with its process. No listing of keys is due.
    private static let inapplicable: Set<SourceCheck> = [
      .malformedRecordComesInItsPlace, .malformedRecordsMayFillAPage, .deletionComesAsTombstone,
      .deletionsHaveRisingVersions, .totalCountsTheListing, .versionsRise,
      .resumablePassGoesOnInAnotherProcess,
      .lateCommitIsFound, .voidTokenIsNoError, .keysAreListedWithTheirVersions,
    ]

    @Test(arguments: SourceCheck.allCases, Service.allCases)
    func keepsThePromisesOfASource(_ check: SourceCheck, _ kind: Service) async throws {
      // A short page is answered anew each time.
      if kind == .publicWithShortPages, check == .samePositionIsAnsweredAlike { return }
      let bench = try kind.bench()
      var harness = try SourceHarness(
        source: bench.source(), upsert: { bench.put($0, $1) }, delete: { bench.delete($0) })
      harness.reopen = { try bench.source() }
      harness.settle = { bench.clock.advance(by: .seconds(180)) }
      if bench.database.scope == .private {
        harness.voidTokens = { bench.service.expireTokens() }
      } else {
        harness.beginUpsert = { key, value in
          bench.service.change { $0.indexLag = .seconds(30) }
          bench.put(key, value)
          bench.service.change { $0.indexLag = .zero }
          return { bench.clock.advance(by: .seconds(30)) }
        }
      }
      let outcome = try await check.run(on: harness)
      #expect(bench.service.violation == nil)
      guard case .skipped(let reason) = outcome else { return }
      #expect(Self.inapplicable.contains(check), "\(reason)")
    }

    @Test(arguments: SinkCheck.allCases, Service.allCases)
    func keepsThePromisesOfASink(_ check: SinkCheck, _ kind: Service) async throws {
      let bench = try kind.bench()
      let source = try bench.source()
      var harness = SinkHarness(
        sink: TickingSink(base: CloudKitSink(source), bench: bench), upsert: { bench.put($0, $1) },
        delete: { bench.delete($0) },
        read: { key in
          let id = RecordID(type: "items", key: key)
          return try await source.lookup([id], of: SinkHarness.entity).first
        })
      harness.remembersWhatIsGone = false
      harness.serverManagedFields = source.capabilities.serverManagedFields
      harness.reopen = { TickingSink(base: CloudKitSink(try bench.source()), bench: bench) }
      let outcome = try await check.run(on: harness)
      #expect(bench.service.violation == nil)
      if case .skipped(let reason) = outcome {
        let needsAZone = SinkCheck.ofGroups.contains(check) && !CloudKitSink(source).appliesGroups
        #expect(check == .creationSentAgainBringsNothingBack || needsAZone, "\(reason)")
      }
    }
  }

  /// A sink whose service's clock goes on a millisecond between two batches.
  private struct TickingSink: ForwardingSink {
    let base: any RemoteRecordSink
    let bench: CloudKitBench

    func push(
      _ changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] {
      bench.clock.advance(by: .milliseconds(1))
      return try await base.push(changes, entities: entities)
    }

    func push(
      atomically changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] {
      bench.clock.advance(by: .milliseconds(1))
      return try await base.push(atomically: changes, entities: entities)
    }
  }
#endif
