import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("An edit that JSON cannot carry")
struct UnportableEditTests {
  private static let team = RecordID(type: "teams", key: "t1")

  private func set(_ world: World, _ field: FieldName, _ json: String) async throws {
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(Self.team) { $0[field] = Array(json.utf8)[...] }
    }
  }

  @Test(arguments: [
    (#""\ud800""#, "surrogate"), (#""a\udc00""#, "surrogate"), (#""\ud800\ud800\udc00""#, "surrogate"),
    (#"{"deep":["\uDBFF"]}"#, "surrogate"), (#"{"\ud800":1}"#, "surrogate"), ("1e400", "greatest double"),
    ("[-1e309]", "greatest double"), (String(repeating: "9", count: 400), "greatest double"),
  ])
  func isRefusedWithTheMembersNameAndNothingOfItsContent(_ json: String, _ remoteState: String) async throws {
    let world = try await World()
    world.addTeams(1...1)
    _ = try await world.engine.sync()
    let error = await #expect(throws: SyncError.self) { try await set(world, "motto", json) }
    #expect(error?.code == .invalidEdit)
    #expect(error?.message.contains("motto") == true && error?.message.contains(remoteState) == true)
    #expect(error?.description.contains(json.dropFirst().dropLast()) == false)
    #expect(try await world.engine.edits.pending("teams").isEmpty)
  }

  @Test(arguments: [
    #""\ud83d\ude00""#, #""\\ud800""#, #""\u0000""#, "1e308", "-1.7976931348623157e308", "1e-400",
    String(repeating: "9", count: 300),
  ])
  func isNotOneThatItCarries(_ json: String) async throws {
    let world = try await World()
    try await set(world, "motto", json)
    #expect(try await world.engine.edits.pending("teams").count == 1)
  }

  // The remote sent the record, so it can receive it as well.
  @Test func isNotWhatTheStoredRecordHasAlready() async throws {
    let world = try await World()
    world.remote.upsert("teams", "t1", #"{"motto":"\ud800","size":1e400}"#)
    _ = try await world.engine.sync()
    try await set(world, "name", #""Bees""#)
    let record = try await world.engine.edits.pending("teams").first
    #expect(
      record.map { String(decoding: $0.edit.content.payload?.bytes ?? [], as: UTF8.self) }?
        .hasPrefix(#"{"motto":"\ud800","size":1e400,"name":"Bees""#) == true)
    await #expect(throws: SyncError.self) { try await set(world, "size", "1e401") }
  }
}
