import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import KintoAdapters
import SyncConformance
import Synchronization
import Testing

/// With its records in PostgreSQL, Kinto stamps a change before other clients can see it.
@Suite(
  "A Kinto with PostgreSQL",
  .enabled(
    if: RealKinto.postgresAddress != nil, "Tests/run --all starts the server, where PostgreSQL is installed."),
  .serialized, .timeLimit(.minutes(20)))
struct PostgresTests {
  @Test(arguments: RealKintoSinkTests.checks)
  func keepsThePromisesOfASink(_ check: SinkCheck) async throws {
    try await RealKintoSinkTests.run(check, at: RealKinto.postgresAddress)
  }

  @Test func editsThatItFailsAtCostOthersNothing() async throws {
    try await MalformedEditTests.run(at: RealKinto.postgresAddress)
  }

  @Test func commitsThatAreSeenLateAreNotLost() async throws {
    let kinto = try await RealKinto(["items"], at: RealKinto.postgresAddress)
    let store = InMemoryStore()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("items")), store: store, source: kinto.source(overlap: .seconds(120)),
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
