import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("The order of a push", .timeLimit(.minutes(10)))
struct PushOrderTests {
  @Test func targetsComeFirstAndAreDeletedLast() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    try await world.write("readings", "r1", ["meter": #""m1""#])
    // By the clock, the meter is the later edit now.
    try await world.write("meters", "m1", ["name": "2"])
    #expect(try await world.engine.push().pushed.accepted == 2)
    #expect(world.batches == [["m1"], ["r1"]])
    try await world.delete("readings", "r1")
    try await world.delete("meters", "m1")
    try await world.write("meters", "m2")
    #expect(try await world.engine.push().pushed.accepted == 3)
    #expect(world.batches == [["m1"], ["r1"], ["m2"], ["r1"], ["m1"]])
  }

  @Test func editsOfATypeGoInTheOrderTheyWereMadeIn() async throws {
    let world = try await PushWorld()
    for key in ["c", "a", "b"] { try await world.write("meters", key) }
    try await world.write("meters", "c", ["name": "2"])
    _ = try await world.engine.push()
    #expect(world.batches == [["a", "b", "c"]])
  }

  @Test func newRecordsOfATypeThatRefersToItselfFollowTheirParents() async throws {
    let world = try await PushWorld()
    try await world.write("folders", "top")
    try await world.write("folders", "middle", ["parent": #""top""#])
    try await world.write("folders", "leaf", ["parent": #""middle""#])
    try await world.write("folders", "middle", ["name": "2"])
    try await world.write("folders", "top", ["name": "2"])
    #expect(try await world.engine.push().pushed.accepted == 3)
    #expect(world.remote.pushEffects.map(\.id.key) == ["top", "middle", "leaf"])
  }

  @Test func parentsBeyondThePortionAreFoundAndNothingIsSentTwice() async throws {
    let world = try await PushWorld()
    try await world.write("folders", "top")
    try await world.write("folders", "child", ["parent": #""top""#])
    for number in 0..<450 { try await world.write("meters", "m\(number)") }
    for number in 0..<450 { try await world.write("folders", "f\(number)") }
    try await world.write("folders", "top", ["name": "2"])
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 902)
    let order = world.remote.pushEffects.map(\.id.key)
    let top = try #require(order.firstIndex(of: "top"))
    let child = try #require(order.firstIndex(of: "child"))
    #expect(top < child)
    #expect(world.remote.pushCounters.changes == 902)
  }

  @Test func aRecordIsKeptBackWhileItsTargetIsNotThere() async throws {
    let world = try await PushWorld()
    world.remote.rule(.refused(reason: "no"), on: "meters", "m1")
    world.remote.rule(.retryLater(after: nil), on: "folders", "top")
    try await world.write("meters", "m1")
    try await world.write("readings", "r1", ["meter": #""m1""#])
    try await world.write("folders", "top")
    try await world.write("folders", "child", ["parent": #""top""#])
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 0)
    #expect(result.pushed.pending == 4)
    #expect(world.batches == [["m1"], ["top"]])
    world.remote.rule(nil, on: "meters", "m1")
    world.remote.rule(nil, on: "folders", "top")
    world.clock.advance(by: .seconds(60))
    try await world.engine.edits.retry("meters")
    #expect(try await world.engine.push().pushed.accepted == 4)
  }

  @Test func nothingIsKeptBackForARecordThatTheRemoteHasAndTheAppCannotShow() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m1", "no record at all")
    #expect(try await world.engine.sync()["meters"].quarantined == 1)
    try await world.write("meters", "m1")
    try await world.write("readings", "r1", ["meter": #""m1""#])
    let result = try await world.engine.push()
    #expect(result.pushed.accepted == 1)
    #expect(world.remote.pushEffects.map(\.id.key) == ["r1"])
    #expect(try await world.outbox("readings").isEmpty)
  }
}
