import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A policy that errs", .timeLimit(.minutes(10)))
struct PolicyErrorTests {
  /// Gives the same resolution for every merge conflict.
  private struct FixedPolicy: MergePolicy {
    var json: String
    func settle(_ conflict: MergeConflict) -> MergeResolution {
      .merged(Payload(Array(json.utf8)), reason: "fixed")
    }
  }

  private static let readings = Entity(
    "readings", schemaVersionField: "schema", references: [.to("meters", by: "meter")])

  private func world(_ json: String) async throws -> PushWorld {
    let world = try await PushWorld(
      [PushWorld.meters, Self.readings], edits: EditOptions(policy: FixedPolicy(json: json)))
    world.remote.upsert("meters", "m1", "{}")
    world.remote.upsert("readings", "r1", #"{"meter":"m1","n":0}"#)
    _ = try await world.engine.sync()
    try await world.write("readings", "r1", ["n": "1"])
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("readings", "r1", #"{"meter":"m1","n":2}"#)
    return world
  }

  @Test(
    arguments: [
      "not json", "[]", #"{"meter":"m1""#, #"{"meter":"m1","schema":2}"#, #"{"meter":"m1","schema":"x"}"#,
      #"{"meter":"nowhere","n":3}"#,
    ], [true, false])
  func leavesTheRemotesCopyAndSaysWhy(_ json: String, isPull: Bool) async throws {
    let world = try await world(json)
    let result = try await world.engine.sync(SyncRequest(direction: isPull ? .pull : .both))
    #expect(world.here("readings") == ["r1": #"{"meter":"m1","n":2}"#])
    #expect(try await world.outbox("readings").isEmpty)
    #expect(result.total.conflicts == 1)
    let conflict = try #require(try await world.engine.edits.conflicts().first)
    #expect(conflict.winner == .remote)
    #expect(conflict.reason.contains("policy"))
    #expect(
      conflict.local.content.payload?.withoutEditStamp == Payload(Array(#"{"meter":"m1","n":1}"#.utf8)))
    #expect(try await world.engine.sync().pushed.requests == 0)
  }

  @Test func standsWhereItMakesUpAReferenceToARecordThatIsHere() async throws {
    let world = try await world(#"{"meter":"m2","n":3}"#)
    world.remote.upsert("meters", "m2", "{}")
    _ = try await world.engine.sync(SyncRequest(direction: .pull))
    #expect(world.here("readings") == ["r1": #"{"meter":"m2","n":3}"#])
    _ = try await world.engine.sync()
    #expect(world.there("readings") == world.here("readings"))
  }
}
