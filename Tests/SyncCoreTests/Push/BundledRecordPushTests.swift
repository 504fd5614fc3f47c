import CanonicalSync
import InMemoryAdapters
import Testing

/// Bundled rows have a copy and no version: the remote may not have the record.
@Suite("An edit of a bundled record", .timeLimit(.minutes(10)))
struct BundledRecordPushTests {
  private func world(_ edits: EditOptions = EditOptions()) async throws -> PushWorld {
    let world = try await PushWorld(edits: edits)
    let bundle =
      #"{"format":1,"types":{"meters":{"records":[{"id":"m1","name":0},{"id":"m2","name":0}]},"folders":{"records":[{"id":"f1"}]}}}"#
    _ = try await Bootstrap(Array(bundle.utf8), layout: BootstrapTests.layout).load(
      into: world.store, schema: world.engine.schema, source: world.remote, clock: world.clock)
    return world
  }

  @Test func createsItWhereTheRemoteKnowsNothingOfIt() async throws {
    // A policy that would treat a missing remote state as the remote's.
    let world = try await world(EditOptions(policies: ["meters": ServerWins()]))
    try await world.write("meters", "m1", ["name": "1"])
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 1)
    #expect(result.pushed.requests == 1)
    #expect(world.remote.pushLog.joined().map(\.base) == [.none])
    #expect(world.there() == ["m1": #"{"id":"m1","name":1}"#])
    #expect(try await world.engine.edits.conflicts(limit: 10).isEmpty)
    #expect(try await world.outbox().isEmpty)
  }

  @Test func goesOnTopOfTheSameRecordAtTheRemote() async throws {
    let world = try await world()
    world.remote.upsert("meters", "m1", #"{"id":"m1","name":0}"#)
    try await world.write("meters", "m1", ["name": "1"])
    #expect(try await world.engine.push().pushed.accepted == 1)
    #expect(world.there() == ["m1": #"{"id":"m1","name":1}"#])
    #expect(try await world.engine.edits.conflicts(limit: 10).isEmpty)
    #expect(world.hasOneEffectEach)
  }

  @Test func deletesOnlyWhatItWasMadeOn() async throws {
    let world = try await world(EditOptions(policies: ["meters": ServerWins()]))
    world.remote.upsert("meters", "m1", #"{"id":"m1","name":7}"#)
    try await world.delete("meters", "m1")
    try await world.delete("meters", "m2")
    _ = try await world.engine.push()
    #expect(world.there() == ["m1": #"{"id":"m1","name":7}"#])
    #expect(world.here() == world.there())
    #expect(try await world.engine.edits.conflicts(limit: 10).map(\.id.key) == ["m1"])
    #expect(try await world.outbox().isEmpty)
  }

  @Test func goesBeforeNewRecordsThatReferToIt() async throws {
    let world = try await world()
    try await world.write("folders", "f2", ["parent": #""f1""#])
    try await world.write("folders", "f1", ["name": "1"])
    #expect(try await world.engine.push().pushed.accepted == 2)
    #expect(world.remote.pushEffects.map(\.id.key) == ["f1", "f2"])
  }
}
