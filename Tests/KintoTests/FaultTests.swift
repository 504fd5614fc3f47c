import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import Testing

/// A tenth of all requests fail on the way.
@Suite(
  "Faults between a mirror and its server",
  .enabled(if: RealKinto.address != nil, "Tests/run starts the server."), .serialized,
  .timeLimit(.minutes(60)))
struct FaultTests {
  /// A mirror behind a proxy, with its clock and address.
  private struct FaultyMirror {
    let engine: SyncEngine
    let clock: FastClock
    let store = InMemoryStore()
    let retry = RetryPolicy(attempts: 6)

    /// A late answer is awaited, however busy the server is. Only an answer that never comes meets
    /// its deadline.
    static let deadline = Duration.seconds(3600)

    init(_ kinto: RealKinto, _ proxy: FaultProxy, _ clock: FastClock, pageSize: Int) async throws {
      self.clock = clock
      var options = KintoSource.Options()
      options.allowsPlainHTTP = true
      options.deadline = Self.deadline
      let source = try KintoSource(
        server: proxy.address, bucket: kinto.bucket, credentials: RealKinto.credentials, options: options,
        transport: TestTransport.make(clock: clock), clock: clock)
      engine = try await SyncEngine(
        schema: SyncSchema(Entity("items")), store: store, source: source, clock: clock,
        options: SyncOptions(pageSize: pageSize, retry: retry))
    }

    var records: [String: String] {
      Dictionary(
        uniqueKeysWithValues: store.records(of: "items").map {
          ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
        })
    }
  }

  @Test(arguments: Seeds.all)
  func endEqualWithinTheBudgetAndNoSoonerThanTheServerAsks(_ seed: UInt64) async throws {
    let kinto = try await RealKinto("items")
    try await kinto.load("items", (0..<600).map { ("k\($0)", #"{"value":\#($0)}"#) })
    let clock = FastClock(factor: 20)
    try await FaultProxy.with(
      server: kinto.server, seed: seed, share: 0.1, onStall: { clock.skip(FaultyMirror.deadline) }
    ) { proxy in
      let mirror = try await FaultyMirror(kinto, proxy, clock, pageSize: 20)
      for round in 0..<4 {
        let start = proxy.entries.count
        let result = try await mirror.engine.sync()
        #expect(result.failures.isEmpty)
        Self.check(Array(proxy.entries[start...]), attempts: mirror.retry.attempts, clock)
        #expect(try await mirror.records == kinto.listing("items"))
        try await kinto.put("items", "k\(round)", "\"changed\":true")
        try await kinto.delete("items", "k\(100 + round)")
      }
      #expect(proxy.entries.contains { $0.fault != nil })
    }
  }

  /// Only an answer that never comes takes a deadline. All other requests end in seconds.
  @Test func mirrorsOfThousandsOfRecordsEndEqualInTime() async throws {
    let kinto = try await RealKinto("items")
    try await kinto.load("items", (0..<3000).map { ("k\($0)", #"{"value":\#($0)}"#) })
    let listing = try await kinto.listing("items")
    for seed in 1...UInt64(Seeds.isSoak ? 60 : 5) {
      let clock = FastClock(factor: 20)
      try await FaultProxy.with(
        server: kinto.server, seed: seed, share: 0.1, onStall: { clock.skip(FaultyMirror.deadline) }
      ) { proxy in
        let mirror = try await FaultyMirror(kinto, proxy, clock, pageSize: 100)
        let start = ContinuousClock.now
        let result = try await mirror.engine.sync()
        #expect(start.duration(to: .now) < .seconds(60), "seed \(seed)")
        #expect(result.failures.isEmpty, "seed \(seed)")
        #expect(mirror.records == listing, "seed \(seed)")
      }
    }
  }

  /// Checks the requests of one sync against the promises.
  private static func check(_ entries: [FaultProxy.Entry], attempts: Int, _ clock: FastClock) {
    for (target, requests) in Dictionary(grouping: entries, by: \.target) {
      #expect(requests.count <= attempts, "\(target)")
    }
    for (refused, next) in zip(entries, entries.dropFirst()) {
      guard let told = refused.refused else { continue }
      let waited = told.duration(to: next.arrived) * clock.factor
      #expect(waited >= FaultProxy.retryAfter, "after \(refused.target)")
    }
  }
}
