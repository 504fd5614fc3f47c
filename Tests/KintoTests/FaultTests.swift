import CanonicalSync
import HTTPAdapters
import InMemoryAdapters
import TestServers
import Testing

/// A tenth of all requests go wrong on the way.
@Suite(
  "Faults between a mirror and its server",
  .enabled(if: RealKinto.address != nil, "Tests/run starts the server."), .serialized,
  .timeLimit(.minutes(60)))
struct FaultTests {
  @Test(arguments: Seeds.all)
  func endEqualWithinTheBudgetAndNoSoonerThanTheServerAsks(_ seed: UInt64) async throws {
    let kinto = try await RealKinto("items")
    try await kinto.load("items", (0..<600).map { ("k\($0)", #"{"value":\#($0)}"#) })
    let clock = FastClock(factor: 20)
    // An answer that comes late is waited for, however busy the server is; only one that never comes meets its deadline.
    let deadline = Duration.seconds(3600)
    try await FaultProxy.with(
      server: kinto.server, seed: seed, share: 0.1, onStall: { clock.skip(deadline) }
    ) { proxy in
      var options = KintoSource.Options()
      options.allowsPlainHTTP = true
      options.deadline = deadline
      let source = try KintoSource(
        server: proxy.address, bucket: kinto.bucket, credentials: RealKinto.credentials, options: options,
        transport: URLSessionTransport(clock: clock), clock: clock)
      let store = InMemoryStore()
      let retry = RetryPolicy(attempts: 6)
      let engine = try await SyncEngine(
        graph: EntityGraph(Entity("items")), store: store, source: source, clock: clock,
        options: SyncOptions(pageSize: 20, retry: retry))
      for round in 0..<4 {
        let start = proxy.entries.count
        let result = try await engine.sync()
        #expect(result.failures.isEmpty)
        Self.check(Array(proxy.entries[start...]), attempts: retry.attempts, clock)
        let mirrored = Dictionary(
          uniqueKeysWithValues: store.records(of: "items").map {
            ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
          })
        #expect(try await mirrored == kinto.listing("items"))
        try await kinto.put("items", "k\(round)", "\"changed\":true")
        try await kinto.delete("items", "k\(100 + round)")
      }
      #expect(proxy.entries.contains { $0.fault != nil })
    }
  }

  /// Holds what one sync asked for to what was promised.
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
