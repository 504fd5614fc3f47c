import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A reference", .timeLimit(.minutes(10)))
struct ReferenceTests {
  @Test func mayBeAWholeNumber() async throws {
    let world = try await World()
    world.remote.upsert("games", "g", #"{"id":"g","home":7,"away":""}"#)
    #expect(try await world.engine.sync()["games"].deferred == 1)
    world.remote.upsert("teams", "7", #"{"id":7}"#)
    #expect(try await world.engine.sync()["games"].replayed == 1)
    world.remote.delete("teams", "7")
    #expect(try await world.engine.sync()["teams"].deferred == 1)
  }

  /// Its first copy marks the old row as listed. The second copy then counted as another record of
  /// the same id, and was withheld permanently.
  @Test func leavesAnUpdateWaitingWhosePageComesTwice() async throws {
    let world = try await World(configuration: .fullOnly, options: SyncOptions(pageSize: 2, pagesAhead: 0))
    for number in 1...3 { world.remote.upsert("games", "g\(number)", #"{"id":"g\#(number)","home":null}"#) }
    _ = try await world.engine.sync()
    world.remote.upsert("games", "g1", #"{"id":"g1","home":"t1"}"#)
    // The first sync took two requests. The second page of this one repeats its first.
    world.remote.behave(.repeatedPage, on: 4, of: "games")
    let result = try await world.engine.sync()
    #expect(world.remote.unplayedBehaviours == 0)
    #expect(result["games"].quarantined == 0)
    let explanation = try await world.engine.explain(RecordID(type: "games", key: "g1"))
    #expect(explanation.withheld.map(\.kind) == [.parked])
    world.addTeams(1...1)
    _ = try await world.engine.sync()
    #expect(world.isEqual("games"))
  }

  @Test func isReadAgainWhenTheDeclarationHasChanged() async throws {
    let old = Entity("games", schemaVersionField: "schema", indexes: ["date"])
    let new = Entity(
      "games", schemaVersion: 2, schemaVersionField: "schema", references: [.to("teams", by: "home")],
      indexes: ["date"])
    let world = try await World([World.teams, old])
    world.addTeams(1...1)
    world.remote.upsert("games", "g", #"{"id":"g","schema":2,"date":"2026","home":"t1"}"#)
    #expect(try await world.engine.sync()["games"].skippedIncompatible == 1)
    let upgraded = try await World([World.teams, new], remote: world.remote, store: world.store)
    #expect(try await upgraded.engine.sync()["games"].replayed == 1)
    let found = try await world.store.read { (snapshot) throws(SyncError) in
      try snapshot.count(Query("games", where: .equal("date", "2026")))
    }
    #expect(found == 1)
  }
}
