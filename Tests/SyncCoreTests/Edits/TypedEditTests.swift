import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Typed edits")
struct TypedEditTests {
  struct Address: Codable { var street: String; var floor: Int? }
  struct House: SyncedRecord, Codable {
    static let recordType: RecordType = "meters"
    var name: String
    var address: Address?
    var colour: String?
    var size: Int?
    var rooms: [String: Int]?
  }

  private func edited(_ stored: String, _ house: House) async throws -> String? {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m", stored)
    _ = try await world.engine.sync()
    try await world.engine.edits.upsert(house, key: "m")
    return world.here()["m"]
  }

  @Test(arguments: [
    // Members of nested objects that the type does not declare stay.
    (
      #"{"name":"A","address":{"street":"Old","zip":"8000","floor":2},"x":1.50}"#,
      House(name: "A", address: Address(street: "New", floor: 2)),
      #"{"name":"A","address":{"street":"New","zip":"8000","floor":2},"x":1.50}"#
    ),
    // Members that are nil are removed, at any level.
    (
      #"{"name":"A","address":{"street":"S","zip":"8000","floor":2},"colour":"red"}"#,
      House(name: "A", address: Address(street: "S")), #"{"name":"A","address":{"street":"S","zip":"8000"}}"#
    ),
    (#"{"name":"A","address":{"street":"S","zip":"8000"}}"#, House(name: "A"), #"{"name":"A"}"#),
    // Unchanged members keep their spelling.
    (
      #"{"name":"\u0041","address":{ "street" : "S" },"size":7}"#,
      House(name: "A", address: Address(street: "S"), size: 8),
      #"{"name":"\u0041","address":{ "street" : "S" },"size":8}"#
    ),
    // All keys of a dictionary belong to the type.
    (
      #"{"name":"A","rooms":{"a":1,"b":2}}"#, House(name: "A", rooms: ["a": 3]),
      #"{"name":"A","rooms":{"a":3}}"#
    ),
    // The stored record cannot be decoded, but the type's members are still known.
    (#"{"name":5,"colour":"red","size":"big","x":1.50}"#, House(name: "A"), #"{"name":"A","x":1.50}"#),
    (
      #"{"name":5,"address":{"street":1,"zip":"8000","floor":2},"x":1}"#,
      House(name: "A", address: Address(street: "S")),
      #"{"name":"A","address":{"street":"S","zip":"8000"},"x":1}"#
    ),
  ])
  func changeWhatTheirTypeKnowsAndNothingElse(
    _ stored: String, _ house: House, _ expected: String
  ) async throws {
    #expect(try await edited(stored, house) == expected)
  }

  @Test func ofANewRecordAreWhatTheTypeMakes() async throws {
    let world = try await PushWorld()
    try await world.engine.edits.upsert(House(name: "A", size: 3), key: "new")
    #expect(world.here() == ["new": #"{"name":"A","size":3}"#])
  }

  private struct Team: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "teams"
    var id: String
    var name: String
  }

  @Test func nameTheKeyOfAnIdentifiableValue() async throws {
    let world = try await World()
    try await world.engine.edits.upsert(Team(id: "t1", name: "Cellar"))
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.upsert(Team(id: "t2", name: "Attic"))
    }
    #expect(world.keys("teams") == ["t1", "t2"])
  }
}
