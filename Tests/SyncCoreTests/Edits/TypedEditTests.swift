import CanonicalSync
import Foundation
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

  /// A type that reads more than it writes.
  struct Tolerant: SyncedRecord, Codable {
    static let recordType: RecordType = "meters"
    enum Kind: String, Codable { case city, village }
    var kind = Kind.city
    var price = 0.0
    var isDone = false
    var since: Date?

    init(kind: Kind = .city, price: Double = 0, isDone: Bool = false, since: Date? = nil) {
      (self.kind, self.price, self.isDone, self.since) = (kind, price, isDone, since)
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      kind = (try? values.decode(Kind.self, forKey: .kind)) ?? .city
      price =
        try (try? values.decode(Double.self, forKey: .price))
        ?? Double(values.decodeIfPresent(String.self, forKey: .price) ?? "0") ?? 0
      isDone = try values.decodeIfPresent(Bool.self, forKey: .isDone) ?? false
      since = try values.decodeIfPresent(Date.self, forKey: .since)
    }
  }

  @Test func writeWhatTheAppGivesThemWhereTheStoredRecordReadsAlikeAndIsNot() async throws {
    let world = try await PushWorld()
    world.remote.upsert(
      "meters", "m", #"{"kind":"town","price":"12.5","since":"2026-01-01T01:00:00.000+01:00","x":1}"#)
    _ = try await world.engine.sync()
    var stored = try #require(try await world.engine.records.find(Tolerant.self, key: "m"))
    // What was read and not changed is not the app's.
    try await world.engine.edits.upsert(stored)
    #expect(try await world.outbox().isEmpty)
    try await world.engine.edits.upsert(stored.value, key: "m")
    #expect(
      world.here()["m"]
        == #"{"kind":"city","price":12.5,"since":"2026-01-01T01:00:00.000+01:00","x":1,"isDone":false}"#)
    stored = try #require(try await world.engine.records.find(Tolerant.self, key: "m"))
    stored.since = stored.since?.addingTimeInterval(60)
    try await world.engine.edits.upsert(stored.value, key: "m")
    #expect(world.here()["m"]?.contains(#""since":"2026-01-01T00:01:00Z""#) ?? false)
  }

  private struct Thing: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "meters"
    var id: UUID
    var name: String
  }

  @Test func findTheRecordWhoseKeySpellsTheirIdentifierOtherwise() async throws {
    let world = try await PushWorld()
    let upper = "7C9E6679-7425-40DE-944B-E07FC1F90AE7"
    let id = try #require(UUID(uuidString: upper))
    world.remote.upsert("meters", upper, #"{"id":"\#(upper)","name":"one"}"#)
    _ = try await world.engine.sync()
    #expect(try await world.engine.records.find(Thing.self, id: id)?.key == upper)
    try await world.engine.edits.upsert(Thing(id: id, name: "two"))
    #expect(world.here() == [upper: #"{"id":"\#(upper)","name":"two"}"#])
    try await world.engine.edits.update(Thing.self, id: id) { $0.name = "three" }
    #expect(world.here() == [upper: #"{"id":"\#(upper)","name":"three"}"#])
    try await world.engine.edits.delete(Thing.self, id: id)
    #expect(world.here().isEmpty)
    let new = UUID()
    try await world.engine.edits.upsert(Thing(id: new, name: "new"))
    #expect(world.here().keys.sorted() == [new.uuidString.lowercased()])
    #expect(try await world.engine.records.find(Thing.self, id: new)?.name == "new")
    #expect(try await world.engine.records.find(Thing.self, id: UUID()) == nil)
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
