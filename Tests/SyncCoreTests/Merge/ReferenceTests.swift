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
