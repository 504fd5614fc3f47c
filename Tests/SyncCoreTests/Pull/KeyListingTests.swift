import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A listing of keys alone", .timeLimit(.minutes(10)))
struct KeyListingTests {
  /// A store in step with twenty teams, when keys are due to be listed.
  private func world() async throws -> World {
    let world = try await World(
      configuration: .sweptDatabase(every: .seconds(60)), options: SyncOptions(pageSize: 6))
    world.addTeams(1...20)
    _ = try await world.engine.sync()
    // Out of the overlap of the next delta.
    world.clock.advance(by: .seconds(10))
    _ = try await world.engine.sync()
    world.clock.advance(by: .seconds(61))
    return world
  }

  @Test func findsDeletionsWithoutAFullListing() async throws {
    let world = try await world()
    for key in ["t3", "t17"] { world.remote.delete("teams", key) }
    let before = world.remote.counters(for: "teams")
    let result = try await world.engine.sync()
    #expect(result["teams"].swept == 2 && result["teams"].deleted == 2)
    #expect(result.total.fetched == result.total.fates - result.total.swept)
    #expect(world.isEqual("teams"))
    let after = world.remote.counters(for: "teams")
    #expect(after.changes == before.changes, "No content was sent.")
    #expect(after.lookups - before.lookups == 2, "Only what the listing lacked was looked up.")
    // Until the next listing is due, a deletion is not seen.
    world.remote.delete("teams", "t5")
    world.clock.advance(by: .seconds(30))
    #expect(try await world.engine.sync()["teams"].deleted == 0)
    world.clock.advance(by: .seconds(31))
    #expect(try await world.engine.sync()["teams"].deleted == 1)
  }

  @Test func bringsWhatNoDeltaListed() async throws {
    let world = try await world()
    // Written long before the last pass, as an index that was late by more than the overlap has it.
    let past = world.clock.timestamp - .seconds(50)
    world.remote.upsert("teams", "late", #"{"name":"Late"}"#, modifiedAt: past)
    world.remote.upsert("teams", "t4", #"{"name":"Newer"}"#, modifiedAt: past)
    let result = try await world.engine.sync()
    #expect(result["teams"].inserted == 1 && result["teams"].updated == 1)
    #expect(result.total.fetched == result.total.fates - result.total.swept)
    #expect(world.isEqual("teams"))
  }

  @Test func leavesEditsAndWhatWaitsAlone() async throws {
    let world = try await world()
    world.addGame("g1", home: "t1", away: "missing")
    _ = try await world.engine.sync()
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "teams", key: "t2")) { (fields) throws(SyncError) in
        fields["name"] = Array(#""Mine""#.utf8)[...]
      }
    }
    world.clock.advance(by: .seconds(61))
    let result = try await world.engine.sync()
    #expect(result.failures.isEmpty && result.refusedSweeps.isEmpty && result.total.swept == 0)
    #expect(world.keys("teams").count == 20 && world.keys("games").isEmpty)
    #expect(try await world.engine.edits.pending("teams").count == 1)
    world.remote.upsert("teams", "missing", #"{"name":"Found"}"#)
    let last = try await world.engine.sync()
    #expect(world.keys("games") == ["g1"], "The parked copy was not forgotten. \(last)")
  }
}
