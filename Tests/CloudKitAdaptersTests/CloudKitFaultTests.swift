#if CloudKit && os(Linux)
  import CanonicalSync
  import CanonicalSyncTestServers
  import CloudKitAdapters
  import HTTPAdapters
  import InMemoryAdapters
  import Synchronization
  import Testing

  /// A tenth of all requests meet a fault.
  @Suite("Faults between a mirror and CloudKit", .serialized, .timeLimit(.minutes(10)))
  struct CloudKitFaultTests {
    @Test(arguments: 1...UInt64(Seeds.isSoak ? 50 : 8), CloudKitBench.Kind.allCases)
    func endEqualAndNoSoonerThanTheServiceAsks(_ seed: UInt64, _ kind: CloudKitBench.Kind) async throws {
      var type = CloudKitType("Item")
      type.sweepEvery = .seconds(3600)
      let bench = try CloudKitBench(kind, types: ["items": type]) {
        $0.seed = seed
        $0.faults = 0.1
      }
      let place = bench.place
      bench.service.put(
        (0..<400).map { ("k\($0)", [("value", StandInField("\($0)", "INT64"))]) }, type: "Item",
        in: place.database, zone: place.zone)
      let log = Lines()
      let mirror = try await CloudKitMirror(
        bench, pageSize: 20, pushes: true, retry: RetryPolicy(attempts: 12),
        observers: [LogObserver { log.add($0) }])
      for round in 0..<4 {
        try await mirror.edit("k\(round)", round * 100)
        try await mirror.edit("new\(round)", round)
        bench.service.put(
          [("k\(50 + round)", [("value", StandInField("-1", "INT64"))])], type: "Item", in: place.database,
          zone: place.zone)
        bench.service.delete(["k\(100 + round)"], in: place.database, zone: place.zone)
        bench.clock.advance(by: .seconds(4000))
        let result = try await bench.passingPauses { try await mirror.engine.sync() }
        #expect(result.failures.isEmpty, "\(result.failures)")
        // An edit that was put off by a failure of its own goes with the next sync.
        bench.clock.advance(by: .seconds(4000))
        _ = try await bench.passingPauses { try await mirror.engine.sync() }
        try mirror.expectEqual("items", "seed \(seed), round \(round)")
        #expect(try await mirror.engine.edits.pending("items").isEmpty)
      }
      #expect(bench.service.violation == nil)
      #expect(bench.service.entries.contains { $0.status != 200 })
      for secret in bench.secrets { #expect(!log.text.contains(secret)) }
    }

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

  /// Lines of a log.
  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var text: String { lines.withLock { $0.joined(separator: "\n") } }
  }
#endif
