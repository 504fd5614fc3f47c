import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Fields that no record has", .timeLimit(.minutes(10)))
struct NameCheckTests {
  struct Game: SyncedRecord, Codable, Identifiable {
    static let recordType: RecordType = "games"
    static let startsAt = Field<Game, String>("starts_at")
    /// Named as in Swift.
    static let misnamed = Field<Game, String>("startsAt")
    enum CodingKeys: String, CodingKey {
      case id
      case startsAt = "starts_at"
    }
    var id: String
    var startsAt: String
  }

  /// A part of a game that leaves the rest of the object to another type.
  struct Summary: SyncedRecord {
    static let recordType: RecordType = "games"
    enum CodingKeys: CodingKey { case id }
    let id: String
    let game: Game
    init(from decoder: any Decoder) throws {
      id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id)
      game = try Game(from: decoder)
    }
  }

  /// Every game, whatever members it has.
  struct Whole: SyncedRecord {
    static let recordType: RecordType = "games"
  }

  private func records(indexes: [FieldName] = [], _ payloads: String...) async throws -> LocalRecords {
    let world = try await World([Entity("games", indexes: indexes)])
    for (number, payload) in payloads.enumerated() { world.remote.upsert("games", "g\(number)", payload) }
    _ = try await world.engine.sync()
    return world.engine.records
  }

  private static let game = #"{"id":"g0","starts_at":"2026","venue":"v"}"#

  private func expectRefusal(
    naming name: String, _ read: () async throws -> Void, at place: SourceLocation = #_sourceLocation
  ) async {
    await #expect(sourceLocation: place) {
      try await read()
    } throws: {
      ($0 as? SyncError)?.code == .invalidConfiguration && "\($0)".contains(name)
    }
  }

  @Test func areRefusedInEachRead() async throws {
    let records = try await records(Self.game)
    await expectRefusal(naming: "but its records have starts_at") {
      _ = try await records.filter(Game.self, where: Game.misnamed == "2026")
    }
    await expectRefusal(naming: "startsAt") {
      _ = try await records.filter(Game.self, order: [.ascending(Game.misnamed)])
    }
    await expectRefusal(naming: "startsAt") {
      _ = try await records.filter(Game.self, where: Game.misnamed == "2026", including: [])
    }
    await expectRefusal(naming: "startsAt") {
      _ = try await records.count(Game.self, where: .not(Game.misnamed == "2026"))
    }
    await expectRefusal(naming: "startsAt") {
      _ = try await records.undecodable(Game.self, where: Game.misnamed == "2026")
    }
    await expectRefusal(naming: "startsAt") {
      var updates = records.observe(Game.self, where: Game.misnamed == "2026").makeAsyncIterator()
      _ = try await updates.next()
    }
    #expect(try await records.count(Game.self, where: Game.startsAt == "2026") == 1)
  }

  @Test func areRefusedAlsoAsAnIndexOfARecordThatSpellsThemOtherwise() async throws {
    let records = try await records(indexes: ["startsAt"], Self.game)
    await expectRefusal(naming: "but its records have starts_at") {
      _ = try await records.filter(Game.self, where: Game.misnamed == "2026")
    }
  }

  @Test func areAllowedIfTheSchemaDeclaresThem() async throws {
    let records = try await records(indexes: ["venue", "archived"], Self.game)
    #expect(try await records.count(Game.self, where: .equal("venue", "v")) == 1)
    #expect(try await records.count(Game.self, where: .equal("archived", .null)) == 1)
    await expectRefusal(naming: "no member referee") {
      _ = try await records.count(Game.self, where: .equal("referee", "r"))
    }
  }

  @Test func areAllowedWhereAnotherTypeDecodesThem() async throws {
    let records = try await records(Self.game)
    #expect(try await records.count(Summary.self, where: .equal("starts_at", "2026")) == 1)
    #expect(try await records.count(Whole.self, where: .equal("venue", "v")) == 1)
  }

  @Test func areNoErrorWhileNoRecordTellsTheNames() async throws {
    let none = try await records()
    struct Match: SyncedRecord, Codable {
      static let recordType: RecordType = "games"
      var date: String
    }
    #expect(try await none.count(Match.self, where: .equal("day", "2026")) == 0)
    // One that does not decode tells only a part of them.
    let broken = try await records(#"{"id":"g0","day":"2026"}"#)
    #expect(try await broken.count(Match.self, where: .equal("day", "2026")) == 1)
  }
}
