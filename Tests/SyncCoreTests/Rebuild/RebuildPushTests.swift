import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A rebuild and the remote", .timeLimit(.minutes(10)))
struct RebuildPushTests {
  private static let entities = [
    Entity("meters", naturalKey: NaturalKey("mac", normalizedBy: .alphanumeric)),
    Entity("readings", references: [.to("meters", by: "meter")]),
  ]

  /// Ten copies of some meters, and a reading of each first copy.
  private func world(meters: Int) async throws -> PushWorld {
    let world = try await PushWorld(Self.entities)
    for number in 1...meters {
      for copy in 0..<10 {
        world.remote.upsert(
          "meters", "m\(number)-\(copy)", #"{"mac":"00:\#(1000 + number)","copy":\#(copy)}"#,
          modifiedAt: world.clock.timestamp + .seconds(copy))
      }
      world.remote.upsert("readings", "r\(number)", #"{"meter":"m\#(number)-0"}"#)
    }
    _ = try await world.engine.sync()
    return world
  }

  @Test func seeExactlyAsManyDeletesAsThereAreLosersAndTheEditsFirst() async throws {
    let world = try await world(meters: 30)
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    _ = try await world.engine.sync()
    #expect(world.remote.pushCounters.deletions == 270)
    #expect(world.remote.pushCounters.effects == 300)
    let order = world.remote.pushLog.flatMap { $0 }.map { $0.content == .deletion }
    #expect(order == Array(repeating: false, count: 30) + Array(repeating: true, count: 270))
    #expect(world.remote.records(of: "meters").map(\.key).allSatisfy { $0.hasSuffix("-9") })
    #expect(world.remote.records(of: "meters").count == 30)
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    _ = try await world.engine.sync()
    _ = try await world.engine.resync()
    #expect(world.remote.pushCounters.deletions == 270)
    #expect(world.store.records(of: "meters").count == 30)
    #expect(try await world.engine.edits.pending("meters").isEmpty)
  }

  @Test func aLoserThatTheRemoteNeverHeardOfJustGoes() async throws {
    let world = try await PushWorld(Self.entities)
    world.remote.upsert("meters", "a", #"{"mac":"1"}"#, modifiedAt: world.clock.timestamp + .seconds(60))
    _ = try await world.engine.sync()
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "meters", key: "b")) { $0["mac"] = Array(#""1""#.utf8)[...] }
    }
    try await world.engine.rebuildDuplicates(of: "meters", version: 1)
    #expect(world.store.records(of: "meters").map(\.id.key) == ["a"])
    #expect(try await world.engine.edits.pending("meters").isEmpty)
    _ = try await world.engine.sync()
    #expect(world.remote.pushCounters.changes == 0)
  }

  @Test func twoDevicesThatRebuildAtOnceElectTheSame() async throws {
    let a = try await world(meters: 5)
    let b = try await PushWorld(Self.entities, name: "b", beside: a)
    _ = try await b.engine.sync()
    try await a.engine.rebuildDuplicates(of: "meters", version: 1)
    try await b.engine.rebuildDuplicates(of: "meters", version: 1)
    for _ in 1...3 {
      _ = try await a.engine.sync()
      _ = try await b.engine.sync()
    }
    let keys = (1...5).map { "m\($0)-9" }
    #expect(a.remote.records(of: "meters").map(\.key) == keys)
    #expect(a.store.records(of: "meters").map(\.id.key) == keys)
    #expect(b.store.records(of: "meters").map(\.id.key) == keys)
    #expect(a.remote.pushEffects.count { $0.isDeletion } == 45)
  }
}
