import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("What a pending edit waits for", .timeLimit(.minutes(10)))
struct PendingEditTests {
  private func waits(
    _ world: PushWorld, _ type: RecordType = "meters"
  ) async throws -> [String: PendingEdit] {
    var waits: [String: PendingEdit] = [:]
    for edit in try await world.engine.edits.waiting(type) { waits[edit.entry.id.key] = edit }
    return waits
  }

  @Test func isThePushTheAnswerATimeOrAChange() async throws {
    let world = try await PushWorld()
    for key in ["m1", "m2"] { try await world.write("meters", key) }
    #expect(try await waits(world).values.allSatisfy { $0.wait == .push && $0.isSentWithNextPush })
    world.remote.rule(.retryLater(after: .seconds(60)), on: "meters", "m1")
    world.remote.rule(.refused(reason: "no"), on: "meters", "m2")
    _ = try await world.engine.push()
    let until = world.clock.timestamp + .seconds(60)
    var waits = try await waits(world)
    #expect(waits["m1"]?.wait == .time(until) && waits["m1"]?.nextAttempt == until)
    #expect(waits["m2"]?.wait == .change(reason: "no") && waits["m2"]?.isSentWithNextPush == false)
    try await world.write("meters", "m3")
    world.remote.behave(
      .loseAnswer(SyncError(.remoteUnavailable, during: "pushing", retryAfter: .seconds(3600))),
      onNextPushes: 1)
    _ = try? await world.engine.push()
    waits = try await self.waits(world)
    #expect(waits["m3"]?.wait == .answer)
    let report = try #require(try await world.engine.status().first { $0.type == "meters" })
    #expect(report.waiting == [.time: 1, .change: 1, .answer: 1])
    #expect(report.refused == 1 && report.pending == 3)
  }

  @Test func isRoomAtTheRemote() async throws {
    let world = try await PushWorld()
    world.remote.recordQuota = 0
    try await world.write("meters", "m1")
    try await world.write("readings", "r1", ["meter": #""m1""#])
    _ = try await world.engine.push()
    #expect(try await waits(world)["m1"]?.wait == .room)
    let meter = RecordID(type: "meters", key: "m1")
    guard case .records([meter], _)? = try await waits(world, "readings")["r1"]?.wait else {
      Issue.record("A record goes out after what it refers to.")
      return
    }
    world.remote.recordQuota = nil
    _ = try await world.engine.push()
    world.remote.rule(.refused(reason: "no"), on: "meters", "m2")
    try await world.write("meters", "m2")
    _ = try await world.engine.push()
    #expect(try await waits(world).count == 1)
    #expect(try await waits(world)["m2"]?.kind == .change)
  }

  @Test func isAnotherRecordOrAnUpgrade() async throws {
    let readings = Entity("readings", schemaVersionField: "schema", references: [.to("meters", by: "meter")])
    let world = try await PushWorld(
      [PushWorld.meters, readings], edits: EditOptions(policy: FieldwiseLastWriteWins()))
    world.remote.upsert("meters", "m1", "{}")
    for key in ["r1", "r2"] { world.remote.upsert("readings", key, #"{"meter":"m1","n":0}"#) }
    _ = try await world.engine.sync()
    world.remote.upsert("readings", "r1", #"{"meter":"m9","n":0}"#)
    world.remote.upsert("readings", "r2", #"{"meter":"m1","n":0,"schema":2}"#)
    _ = try await world.engine.sync()
    for key in ["r1", "r2"] { try await world.write("readings", key, ["n": "5"]) }
    let before = world.remote.pushCounters.changes
    _ = try await world.engine.sync()
    #expect(world.remote.pushCounters.changes == before, "neither can get anywhere")
    let waits = try await waits(world, "readings")
    guard case .records([RecordID(type: "meters", key: "m9")], _)? = waits["r1"]?.wait else {
      Issue.record("The remote's copy refers to a record that is not here.")
      return
    }
    #expect(waits["r2"]?.kind == .upgrade)
    #expect(waits.values.allSatisfy { !$0.isSentWithNextPush && !$0.reason.isEmpty })
    let story = try await world.engine.explain(RecordID(type: "readings", key: "r1")).description
    #expect(story.contains("waits for other records"))
  }

  @Test func ofATypeThatIsNotDeclaredAnyMoreWaitForAnUpdateOfTheApp() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m")
    let engine = try await SyncEngine(
      schema: SyncSchema([PushWorld.folders]), store: world.store, source: world.remote, sink: world.remote,
      clock: world.clock, random: RepeatedNumber())
    _ = try await engine.sync()
    let waiting = try await engine.edits.waiting("meters")
    #expect(waiting.map(\.kind) == [.upgrade])
    #expect(waiting.first?.isSentWithNextPush == false)
    let updated = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: world.remote, sink: world.remote,
      clock: world.clock, random: RepeatedNumber())
    _ = try await updated.sync()
    #expect(world.there().keys.sorted() == ["m"])
  }
}
