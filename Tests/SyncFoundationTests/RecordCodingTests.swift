import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Models with Foundation's types", .timeLimit(.minutes(10)))
struct RecordCodingTests {
  struct Game: SyncedRecord, Codable, Equatable, Identifiable {
    static let recordType: RecordType = "games"
    static let coding = RecordCoding(
      .form(of: Date.self, at: "doorsAt", as: .millisecondsSince1970),
      .form(of: Date.self, at: "breaks", "at", as: .secondsSince1970))
    struct Break: Codable, Equatable { var at: Date }

    static let startsAt = Field<Game, Date>("startsAt")
    static let doorsAt = Field<Game, Date>("doorsAt")
    static let price = Field<Game, Decimal>("price")

    var id: String
    var startsAt: Date
    var doorsAt: Date?
    var tickets: URL?
    var price: Decimal?
    var seal: Data?
    var breaks: [Break]?
  }

  private static let text =
    #"{"id":"g","startsAt":"2026-04-01T20:00:00+02:00","doorsAt":1775062800000,"tickets":"https://a.example/g","price":12.50,"seal":"AQI=","breaks":[{"at":1775070000}],"x":1.0}"#

  private func engine(_ payloads: [String: String]) async throws -> (
    SyncEngine, InMemoryRemote, InMemoryStore
  ) {
    let remote = InMemoryRemote()
    for (key, payload) in payloads { remote.upsert("games", key, payload) }
    let store = InMemoryStore()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("games", indexes: ["startsAt"])), store: store, source: remote, sink: remote)
    _ = try await engine.sync()
    return (engine, remote, store)
  }

  private func stored(_ store: InMemoryStore, _ key: String) async throws -> String? {
    try await store.read { (snapshot) throws(SyncError) in
      try snapshot.records(withIDs: [RecordID(type: "games", key: key)])[0]
    }.map { text($0.payload) }
  }

  /// A payload without the edit's stamp.
  private func text(_ payload: Payload) -> String {
    var fields = (try? FieldMap(payload)) ?? FieldMap()
    fields["canonicalSyncStamp"] = nil
    return String(decoding: fields.payload.bytes, as: UTF8.self)
  }

  @Test func areReadAsJSONAPIsWriteThem() async throws {
    let (engine, _, _) = try await engine(["g": Self.text])
    let game = try #require(try await engine.records.all(Game.self).complete().first)
    #expect(game.startsAt == Date(timeIntervalSince1970: 1_775_066_400))
    #expect(game.doorsAt == Date(timeIntervalSince1970: 1_775_062_800))
    #expect(game.tickets?.host() == "a.example")
    #expect(game.price == Decimal(string: "12.5"))
    #expect(game.seal == Data([1, 2]))
    #expect(game.breaks?.first?.at == Date(timeIntervalSince1970: 1_775_070_000))
  }

  @Test func reachTheRemoteInTheSameFormsAndKeepWhatTheyDoNotChange() async throws {
    let (engine, remote, store) = try await engine(["g": Self.text])
    var game = try #require(try await engine.records.find(Game.self, key: "g"))
    game.startsAt += 1800
    game.breaks?[0].at += 60
    try await engine.edits.upsert(game)
    let expected = Self.text
      .replacing("2026-04-01T20:00:00+02:00", with: "2026-04-01T18:30:00Z").replacing(
        "1775070000", with: "1775070060")
    #expect(try await stored(store, "g") == expected)
    #expect(try await engine.sync().pushed.accepted == 1)
    #expect(
      remote.records(of: "games").map { text($0.payload) } == [expected])
  }

  @Test func ofANewRecordHaveNoEncodingOfFoundations() async throws {
    let (engine, _, store) = try await engine([:])
    try await engine.edits.upsert(
      Game(
        id: "n", startsAt: Date(timeIntervalSince1970: 0), doorsAt: Date(timeIntervalSince1970: 1.5),
        tickets: URL(string: "https://a.example"), price: Decimal(string: "0.10"), seal: Data([255])))
    #expect(
      try await stored(store, "n")
        == #"{"id":"n","startsAt":"1970-01-01T00:00:00Z","doorsAt":1500,"tickets":"https://a.example","price":0.1,"seal":"/w=="}"#
    )
  }

  @Test func thatDoNotDecodeAreNamedWithTheMemberAndTheForm() async throws {
    let (engine, _, _) = try await engine([
      "a": Self.text, "b": #"{"startsAt":"yesterday"}"#, "c": #"{"startsAt":816692800}"#, "d": "{}",
    ])
    let games = try await engine.records.all(Game.self)
    #expect(games.count == 1)
    #expect(games.leftOut.map(\.id.key) == ["b", "c", "d"])
    #expect(
      games.leftOut.map(\.reason) == [
        "startsAt: Expected an RFC 3339 date, found another string. A RecordCoding selects other forms.",
        "startsAt: Expected an RFC 3339 date, found number. A RecordCoding selects other forms.",
        "startsAt: The member is missing.",
      ])
    #expect {
      try games.complete()
    } throws: { error in
      (error as? SyncError)?.code == .undecodable && "\(error)".contains("3 records of 4")
        && !"\(error)".contains("..")
        && !"\(error)".contains("yesterday")
    }
  }

  @Test func areComparedAndSortedByTypedFields() async throws {
    var payloads: [String: String] = [:]
    for day in 1...9 {
      payloads["g\(day)"] =
        #"{"startsAt":"2026-04-0\#(day)T18:00:00Z","doorsAt":\#(day * 1000),"price":\#(day).5}"#
    }
    let (engine, _, _) = try await engine(payloads)
    let records = engine.records
    let third = Date(timeIntervalSince1970: 1_775_066_400 + 2 * 86_400)
    let later = try await records.filter(
      Game.self, where: Game.startsAt > third, order: [.descending(Game.startsAt)])
    #expect(later.map(\.key) == ["g9", "g8", "g7", "g6", "g5", "g4"])
    #expect(try await records.count(Game.self, where: Game.doorsAt <= Date(timeIntervalSince1970: 2)) == 2)
    #expect(
      try await records.filter(Game.self, where: Game.price == Decimal(string: "3.5")).map(\.key) == ["g3"])
    #expect(try await records.count(Game.self, where: Game.price == nil) == 0)
    #expect(try await records.count(Game.self, where: Game.startsAt != third && Game.price < 5) == 3)
    #expect(try await records.count(Game.self, where: Game.startsAt.isIn([third])) == 1)
    #expect(try await records.count(Game.self, where: .range("startsAt", from: third, to: third)) == 1)
  }
}
