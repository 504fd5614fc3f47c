import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A record that the app makes and a parked copy waits for", .timeLimit(.minutes(10)))
struct AwaitedRecordTests {
  /// A sink that lets the app act once, when a push has begun.
  private final class WaitingSink: RemoteRecordSink {
    let base: InMemoryRemote
    let meanwhile = Mutex<(@Sendable () async throws -> Void)?>(nil)
    var identity: String { base.identity }

    init(base: InMemoryRemote) { self.base = base }

    func limits() async throws(SyncError) -> SinkLimits {
      let act = meanwhile.withLock { act in
        defer { act = nil }
        return act
      }
      try? await act?()
      return try await base.limits()
    }

    func push(
      _ changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] { try await base.push(changes, entities: entities) }
  }

  @Test func isShownWithItAlsoIfACleanUpHasHiddenIt() async throws {
    let sinks = Mutex<WaitingSink?>(nil)
    let world = try await PushWorld(
      [PushWorld.folders],
      sink: { remote in
        let sink = WaitingSink(base: remote)
        sinks.withLock { $0 = sink }
        return sink
      })
    world.remote.upsert("folders", "child", #"{"parent":"old"}"#)
    _ = try await world.engine.sync()
    #expect(world.here("folders").isEmpty)
    try await world.write("folders", "other")
    sinks.withLock { $0 }?.meanwhile.withLock { act in
      act = { try await world.write("folders", "old", ["date": #""2020-01-01""#]) }
    }
    #expect(try await world.engine.push().pushed.accepted == 2)
    let report = try await world.engine.cleanUp(
      CleanupPolicy([.hide("folders", olderThan: .seconds(86_400), by: .date("date"))]))
    #expect(report.hidden == ["folders": 1])
    _ = try await world.engine.sync()
    #expect(world.here("folders").keys.sorted() == ["child", "old", "other"])
  }
}
