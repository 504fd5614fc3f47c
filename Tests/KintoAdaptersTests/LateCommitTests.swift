import CanonicalSync
import CanonicalSyncTestServers
import InMemoryAdapters
import KintoAdapters
import Synchronization
import Testing

/// Three writers change a collection in large batches while a client follows it.
@Suite("Commits that are seen late", .serialized, .timeLimit(.minutes(20)))
struct LateCommitTests {
  @Test(arguments: KintoKind.present.filter { $0 != .kinto })
  func areNotLost(_ kind: KintoKind) async throws {
    // At Kinto, a change may become visible long after its time. A service has no late commits, so a delta
    // need not reach back.
    let overlap = kind.isService ? Duration.milliseconds(1) : .seconds(120)
    try await kind.with(["items"]) { kinto in try await Self.follow(kinto, overlap) }
  }

  private static func follow(_ kinto: RealKinto, _ overlap: Duration) async throws {
    let store = InMemoryStore()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("items")), store: store, source: kinto.source(overlap: overlap),
      options: SyncOptions(pageSize: 50))
    let writers = Countdown(3)
    // Each writer's batch is one transaction. Its first change is stamped long before its last,
    // especially on a busy machine.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 1...3 {
        group.addTask {
          for batch in 0..<8 {
            try await kinto.load("items", (0..<25).map { ("w\(writer)b\(batch)n\($0)", #"{"value":1}"#) })
          }
          writers.count()
        }
      }
      while !writers.isOver, !group.isCancelled { _ = try await engine.sync() }
      try await group.waitForAll()
    }
    let result = try await engine.sync()
    #expect(result.failures.isEmpty)
    let mirrored = Dictionary(
      uniqueKeysWithValues: store.records(of: "items").map {
        ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
      })
    let listed = try await kinto.listing("items")
    #expect(!listed.isEmpty)
    #expect(mirrored == listed)
  }
}

/// The number of writers that are still active.
private final class Countdown: Sendable {
  private let rest: Mutex<Int>

  init(_ number: Int) { rest = Mutex(number) }

  var isOver: Bool { rest.withLock { $0 == 0 } }
  func count() { rest.withLock { $0 -= 1 } }
}
