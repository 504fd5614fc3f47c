import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("An edit that is put off", .timeLimit(.minutes(10)))
struct PostponedEditTests {
  @Test(arguments: [3600, 365 * 86_400])
  func goesOutOnceAClockThatWasAheadIsPutRight(_ ahead: Int) async throws {
    let world = try await PushWorld()
    let own = ManualClock(timestamp: world.clock.timestamp + .seconds(ahead))
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, sink: world.remote, clock: own,
      random: RepeatedNumber())
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "meters", key: "m1")) { $0["name"] = Array("1".utf8)[...] }
    }
    world.remote.rule(.retryLater(after: .seconds(60)), on: "meters", "m1")
    _ = try await engine.sync()
    world.remote.rule(nil, on: "meters", "m1")
    own.timestamp = world.clock.timestamp
    own.advance(by: .seconds(60))
    #expect(try await engine.sync().pushed.accepted == 1)
  }

  @Test func isNotPutOffForLongerThanADay() async throws {
    let world = try await PushWorld()
    world.remote.rule(.retryLater(after: .seconds(30 * 86_400)), on: "meters", "m1")
    try await world.write("meters", "m1")
    _ = try await world.engine.sync()
    guard case .postponed(let until)? = try await world.outbox().first?.state else {
      Issue.record("The edit was not put off.")
      return
    }
    #expect(until == world.clock.timestamp + .seconds(86_400))
  }

  @Test func waitsOnWhereANewerCopyComes() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m1", #"{"name":0}"#)
    _ = try await world.engine.sync()
    world.remote.rule(.retryLater(after: .seconds(3600)), on: "meters", "m1")
    try await world.write("meters", "m1", ["name": "2"])
    _ = try await world.engine.sync()
    world.remote.upsert("meters", "m1", #"{"name":1}"#, modifiedAt: Timestamp(microseconds: 1))
    let sent = world.remote.pushCounters.changes
    for _ in 0..<3 {
      world.clock.advance(by: .seconds(10))
      _ = try await world.engine.sync()
    }
    #expect(world.remote.pushCounters.changes == sent)
    world.remote.rule(nil, on: "meters", "m1")
    world.clock.advance(by: .seconds(3600))
    _ = try await world.engine.sync()
    #expect(world.there() == ["m1": #"{"name":2}"#])
  }

  @Test func isSentAtOnceWhereItIsEditedAgain() async throws {
    let world = try await PushWorld()
    world.remote.rule(.retryLater(after: .seconds(3600)), on: "meters", "m1")
    try await world.write("meters", "m1")
    _ = try await world.engine.sync()
    world.remote.rule(nil, on: "meters", "m1")
    try await world.write("meters", "m1", ["name": "2"])
    #expect(try await world.engine.sync().pushed.accepted == 1)
  }

  @Test func keepsNoUpdateBackForLackOfRoom() async throws {
    let world = try await PushWorld()
    world.remote.upsert("folders", "there", #"{"name":0}"#)
    _ = try await world.engine.sync()
    world.remote.recordQuota = 1
    for key in ["m1", "m2"] { try await world.write("meters", key) }
    try await world.write("folders", "new")
    try await world.write("folders", "there")
    let result = try await world.engine.sync()
    #expect(world.there("folders") == ["there": #"{"name":1}"#])
    #expect(result.pushed.isRemoteFull)
    #expect(result.pushed.accepted == 1)
    #expect(result.pushed.pending == 3)
    #expect(world.remote.pushCounters.changes == 3, "no creation is sent after those that had no room")
    #expect(try await world.outbox().allSatisfy { $0.state == .waiting })
  }
}
