import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Typed records and their keys", .timeLimit(.minutes(10)))
struct StoredTests {
  struct Team: SyncedRecord, Codable, Equatable, Identifiable {
    static let recordType: RecordType = "teams"
    var id: String
    var name: String
  }
  struct Numbered: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "teams"
    static let coding = RecordCoding(key: .omitted("id"))
    var id: Int
    var name: String
  }
  struct Named: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "teams"
    static let coding = RecordCoding(.form(of: UUID.self, .uppercase), key: .member("uuid"))
    enum CodingKeys: String, CodingKey {
      case id = "uuid"
      case name
    }
    var id: UUID
    var name: String
  }
  struct Foreign: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "teams"
    static let coding = RecordCoding(key: .unrelated)
    var id: String
  }

  private func payload(_ world: World, _ key: String) -> String? {
    world.store.records(of: "teams").first { $0.id.key == key }.map {
      String(decoding: $0.payload.bytes, as: UTF8.self)
    }
  }

  @Test func carryKeyVersionAndWhetherAnEditIsPending() async throws {
    let world = try await World()
    world.addTeams(1...3)
    _ = try await world.engine.sync()
    var team = try #require(try await world.engine.records.find(Team.self, key: "t2"))
    #expect(team.key == "t2" && team.recordID == RecordID(type: "teams", key: "t2") && team.id == "t2")
    #expect(team.version == world.store.records(of: "teams").first { $0.id.key == "t2" }?.version)
    #expect(!team.hasPendingEdit)
    team.name = "Owls"
    try await world.engine.edits.upsert(team)
    let teams = try await world.engine.records.all(Team.self)
    #expect(teams.map(\.name) == ["Team", "Owls", "Team"])
    #expect(teams.map(\.hasPendingEdit) == [false, true, false])
    try await world.engine.edits.delete(teams[2])
    #expect(try await world.engine.records.all(Team.self).map(\.key) == ["t1", "t2"])
    let edited = try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.find(Team.self, key: "t2")
    }
    #expect(edited?.name == "Owls" && edited?.hasPendingEdit == true)
  }

  @Test func needNoMemberForTheirKey() async throws {
    let world = try await World()
    world.remote.upsert("teams", "7", #"{"name":"Seven"}"#)
    world.remote.upsert("teams", "x", #"{"name":"X"}"#)
    _ = try await world.engine.sync()
    #expect(try await world.engine.records.all(Team.self).map(\.id) == ["7", "x"])
    let numbered = try await world.engine.records.all(Numbered.self)
    #expect(numbered.map(\.id) == [7])
    #expect(numbered.leftOut.map(\.id.key) == ["x"])
    var seven = try #require(numbered.first)
    seven.name = "Sept"
    try await world.engine.edits.upsert(seven.value)
    #expect(payload(world, "7") == #"{"name":"Sept"}"#)
    try await world.engine.edits.upsert(Numbered(id: 8, name: "Eight"))
    #expect(payload(world, "8") == #"{"name":"Eight","schema":1}"#)
    // A member that the payload lacks is not added by an edit either.
    try await world.engine.edits.upsert(Team(id: "x", name: "Y"))
    #expect(payload(world, "x") == #"{"name":"Y"}"#)
    world.remote.upsert("teams", "7", "{}")
    #expect(throws: Undecodable.self) { try Payload(Array("{}".utf8)).decoded(as: Numbered.self, key: "7") }
  }

  @Test func takeTheirKeyInTheFormOfTheirType() async throws {
    let world = try await World()
    let id = try #require(UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"))
    try await world.engine.edits.upsert(Named(id: id, name: "U"))
    #expect(world.keys("teams") == [id.uuidString.uppercased()])
    #expect(payload(world, id.uuidString.uppercased())?.contains(id.uuidString.uppercased()) == true)
    // A key in the other case is the same UUID, and a record of its own.
    try await world.engine.edits.upsert(Named(id: id, name: "L"), key: id.uuidString.lowercased())
    #expect(world.keys("teams").count == 2)
  }

  @Test func refuseAnotherKey() async throws {
    let world = try await World()
    let isInvalid: @Sendable (any Error) -> Bool = { ($0 as? SyncError)?.code == .invalidEdit }
    await #expect {
      try await world.engine.edits.upsert(Team(id: "t1", name: "A"), key: "t2")
    } throws: {
      isInvalid($0)
    }
    await #expect {
      try await world.engine.edits.upsert(Foreign(id: "t1"))
    } throws: {
      isInvalid($0)
    }
    #expect(world.keys("teams").isEmpty)
    try await world.engine.edits.upsert(Foreign(id: "t1"), key: "t2")
    #expect(world.keys("teams") == ["t2"])
  }

  @Test func areReadInPortions() async throws {
    let world = try await World()
    world.addTeams(10...34)
    world.remote.upsert("teams", "t19", "{}")
    _ = try await world.engine.sync()
    var (names, leftOut, last) = ([String](), 0, String?.none)
    repeat {
      let portion = try await world.engine.records.filter(Team.self, afterKey: last, limit: 10)
      names += portion.map(\.key)
      leftOut += portion.leftOut.count
      last = portion.lastKey
    } while last != nil
    let readable = (10...34).filter { $0 != 19 }
    #expect(names == readable.map { "t\($0)" })
    #expect(leftOut == 1)
    await #expect(throws: SyncError.self) {
      try await world.engine.records.filter(Team.self, order: ["name"], afterKey: "t1")
    }
    await #expect(throws: SyncError.self) { try await world.engine.records.filter(Team.self, limit: -1) }
  }
}
