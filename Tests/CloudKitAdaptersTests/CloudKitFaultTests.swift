#if CloudKit && os(Linux)
  import CanonicalSync
  import CanonicalSyncTestServers
  import CloudKitAdapters
  import HTTPAdapters
  import InMemoryAdapters
  import Testing

  @Suite("Pauses and errors of CloudKit", .serialized, .timeLimit(.minutes(10)))
  struct CloudKitFaultTests {
    @Test func aPauseOfMoreThanADayIsKept() async throws {
      let bench = try CloudKitBench(.publicDatabase)
      bench.service.script([.throttled(seconds: 110_207)])
      let mirror = try await CloudKitMirror(bench)
      for wait in [0, 100_000, 10_000] {
        bench.clock.advance(by: .seconds(wait))
        let error = await #expect(throws: SyncError.self) { _ = try await mirror.engine.sync() }
        #expect(error?.code == .remoteUnavailable && error?.retryAfter != nil)
      }
      #expect(bench.service.entries.count == 1, "Nothing was sent during the pause.")
      bench.clock.advance(by: .seconds(300))
      #expect(try await mirror.engine.sync().failures.isEmpty)
    }

    @Test func eachAttemptIsSignedAnew() async throws {
      let bench = try CloudKitBench(.publicDatabase)
      // Longer than a signature is valid.
      bench.service.script([.tryAgainLater(seconds: 1200), .throttledByHeaders(seconds: 1200)])
      let mirror = try await CloudKitMirror(
        bench, retry: RetryPolicy(attempts: 5, cap: .seconds(3600)))
      let result = try await bench.passingPauses { try await mirror.engine.sync() }
      #expect(result.failures.isEmpty)
      #expect(bench.service.entries.count >= 3, "Both pauses were met.")
      #expect(bench.service.violation == nil)
    }

    @Test func anErrorInARecordsPlaceIsLookedUp() async throws {
      for kind in CloudKitBench.Kind.allCases {
        let bench = try CloudKitBench(kind)
        for number in 0..<9 { bench.put("k\(number)", number) }
        bench.service.script([.errorInPlace()])
        let mirror = try await CloudKitMirror(bench)
        #expect(try await mirror.engine.sync().failures.isEmpty)
        try mirror.expectEqual("items")
      }
    }
  }
#endif
