import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Conditions compare what members mean, however the remote spells them.
@Suite("Typed conditions over texts", .timeLimit(.minutes(10)))
struct MeaningTests {
  struct Game: SyncedRecord, Codable, Equatable, Identifiable {
    static let recordType: RecordType = "games"
    static let coding = RecordCoding(
      .form(of: Decimal.self, .string), .form(of: Weight.self, .text),
      defaults: ["isDone": false, "rank": 3, "label": "none"])
    static let startsAt = Field<Game, Date>("startsAt")
    static let endsAt = Field<Game, Date?>("endsAt")
    static let price = Field<Game, Decimal>("price")
    static let owner = Field<Game, UUID>("owner")
    static let name = Field<Game, String>("name")
    static let isDone = Field<Game, Bool>("isDone")
    static let rank = Field<Game, Int>("rank")
    static let label = Field<Game, String>("label")
    static let weight = Field<Game, Weight>("weight")

    var id: String
    var startsAt: Date?
    var endsAt: Date?
    var price: Decimal?
    var owner: UUID?
    var name: String?
    var isDone = false
    var rank = 3
    var label: String
    var weight: Weight?
  }

  struct Weight: ScalarFormed, FieldValueConvertible, Codable, Equatable, Sendable {
    static var scalarForm: ScalarForm<Weight> { .text }
    var grams: Int
    var fieldValue: FieldValue { Self.scalarForm.fieldValue(of: self) }
  }

  private func engine(_ payloads: [String]) async throws -> SyncEngine {
    let remote = InMemoryRemote()
    for (index, payload) in payloads.enumerated() { remote.upsert("games", "g\(index)", payload) }
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("games", indexes: ["startsAt"])), store: InMemoryStore(), source: remote,
      sink: remote)
    _ = try await engine.sync()
    return engine
  }

  private func keys(
    _ engine: SyncEngine, _ condition: Condition, _ order: [Query.SortField] = []
  ) async throws -> [String] {
    let games = try await engine.records.filter(Game.self, where: condition, order: order)
    let count = try await engine.records.count(Game.self, where: condition)
    #expect(count == games.count + games.leftOut.count)
    return games.map(\.key)
  }

  @Test func compareInstantsOfAnyOffset() async throws {
    let engine = try await engine([
      #"{"startsAt":"2026-04-01T23:30:00-10:00","endsAt":"2026-04-02T09:30:00.000Z"}"#,
      #"{"startsAt":"2026-04-02T08:00:00Z"}"#, #"{"startsAt":"2026-04-02T10:00:00.250+02:00"}"#, "{}",
    ])
    let start = Date(timeIntervalSince1970: 1_775_116_800)  // 2026-04-02T08:00:00Z
    #expect(try await keys(engine, Game.startsAt == start) == ["g1"])
    #expect(try await keys(engine, Game.startsAt > start) == ["g0", "g2"])
    #expect(try await keys(engine, Game.startsAt <= start) == ["g1"])
    #expect(try await keys(engine, Game.startsAt != start) == ["g0", "g2", "g3"])
    #expect(try await keys(engine, Game.startsAt == nil) == ["g3"])
    #expect(try await keys(engine, Game.startsAt.isIn([start, start + 5400])) == ["g0", "g1"])
    #expect(try await keys(engine, Game.endsAt == .some(start + 5400)) == ["g0"])
    let order = [Query.SortField.descending("startsAt", as: .instant)]
    #expect(try await keys(engine, .not(Game.startsAt == nil), order) == ["g0", "g2", "g1"])
  }

  @Test func compareNumbersInTextsAndUUIDs() async throws {
    let uuid = try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))
    let engine = try await engine([
      #"{"price":"9.50","owner":"\#(uuid.uuidString)"}"#,
      #"{"price":"10","owner":"\#(uuid.uuidString.lowercased())"}"#,
      #"{"price":"-3"}"#, #"{"price":"9.5"}"#,
    ])
    let price = try #require(Decimal(string: "9.5"))
    #expect(try await keys(engine, Game.price == price) == ["g0", "g3"])
    #expect(try await keys(engine, Game.price > price) == ["g1"])
    #expect(try await keys(engine, Game.price < price) == ["g2"])
    #expect(try await keys(engine, .all([]), [.ascending(Game.price)]) == ["g2", "g0", "g3", "g1"])
    #expect(try await keys(engine, Game.owner == uuid) == ["g0", "g1"])
  }

  @Test func findTextsAsPeopleTypeThem() async throws {
    let engine = try await engine([#"{"name":"Café Größe"}"#, #"{"name":"CAFETERIA"}"#, #"{"name":"tea"}"#])
    #expect(try await keys(engine, Game.name.contains("GROSSE")) == ["g0"])
    #expect(try await keys(engine, Game.name.hasPrefix("cafe")) == ["g0", "g1"])
    #expect(try await keys(engine, Game.name.contains("É")) == ["g0", "g1", "g2"])
    let order = [Query.SortField.ascending("name", as: .folded)]
    #expect(try await keys(engine, .all([]), order) == ["g0", "g1", "g2"])
  }

  @Test func countAMissingMemberAsItsDefault() async throws {
    let engine = try await engine([
      #"{"isDone":true,"rank":5,"label":"x"}"#, "{}", #"{"isDone":null}"#, #"{"isDone":false,"rank":1}"#,
    ])
    let games = try await engine.records.all(Game.self).complete()
    #expect(games.map(\.isDone) == [true, false, false, false] && games.map(\.rank) == [5, 3, 3, 1])
    #expect(games.map(\.label) == ["x", "none", "none", "none"])
    #expect(try await keys(engine, Game.isDone == false) == ["g1", "g2", "g3"])
    #expect(try await keys(engine, Game.isDone == true) == ["g0"])
    #expect(try await keys(engine, Game.isDone != true) == ["g1", "g2", "g3"])
    #expect(try await keys(engine, Game.isDone == nil) == [])
    #expect(try await keys(engine, Game.rank >= 3) == ["g0", "g1", "g2"])
    #expect(try await keys(engine, Game.rank < 3) == ["g3"])
    #expect(try await keys(engine, Game.rank.isIn([1, 3])) == ["g1", "g2", "g3"])
    #expect(try await keys(engine, Game.label.hasPrefix("no")) == ["g1", "g2", "g3"])
    // An edit of another member does not write the default.
    var game = games[1]
    game.name = "n"
    try await engine.edits.upsert(game)
    let entry = try #require(try await engine.edits.pending("games").first)
    let fields = try FieldMap(try #require(entry.edit.content.payload))
    #expect(fields["isDone"] == nil && fields["name"] != nil)
  }

  @Test func areRefusedWithAValueThatNoFormHas() async throws {
    let engine = try await engine([#"{"startsAt":"2026-04-02T08:00:00Z","price":"1"}"#, "{}"])
    let never = Date(timeIntervalSince1970: 1e12)
    #expect(try await keys(engine, Game.startsAt < .distantFuture && Game.startsAt > .distantPast) == ["g0"])
    for condition in [
      Game.startsAt < never, Game.startsAt >= Date(timeIntervalSince1970: -.infinity), Game.startsAt == never,
      Game.endsAt == .some(never), !(Game.startsAt == never), Game.startsAt.isIn([.distantPast, never]),
      Game.price <= .nan, .less("startsAt", never), .range("rank", from: .null, to: 4),
      .less("rank", Double.nan),
      .range("startsAt", from: "monday", to: "2026-04-02T08:00:00Z", as: .instant),
    ] {
      await #expect { try await engine.records.count(Game.self, where: condition) } throws: {
        ($0 as? SyncError)?.code == .invalidConfiguration
      }
      await #expect { try await engine.cleanUp(CleanupPolicy([.hide("games", where: condition)])) } throws: {
        ($0 as? SyncError)?.code == .invalidConfiguration
      }
    }
  }

  @Test func areRefusedWithoutAKnownOrder() async throws {
    let engine = try await engine([#"{"weight":"5 g"}"#])
    #expect(try await keys(engine, Game.weight == Weight(grams: 5)).count == 1)
    for condition in [Game.weight > Weight(grams: 4), !(Game.weight <= Weight(grams: 4))] {
      await #expect { try await engine.records.count(Game.self, where: condition) } throws: {
        ($0 as? SyncError)?.code == .invalidConfiguration && "\($0)".contains("no known order")
      }
    }
  }
}

extension ScalarForm where Value == MeaningTests.Weight {
  static var text: Self {
    ScalarForm("a weight in grams") { json in
      guard case .string(let text) = json else { return nil }
      return Int(text.prefix { $0 != " " }).map { MeaningTests.Weight(grams: $0) }
    } write: {
      .string("\($0.grams) g")
    }
  }
}
