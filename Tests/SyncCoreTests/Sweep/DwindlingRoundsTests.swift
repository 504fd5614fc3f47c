import SyncModels
import Testing

@testable import SyncCore

@Suite("Rounds that take something out")
struct DwindlingRoundsTests {
  private static let (a, b) = (RecordID(type: "teams", key: "a"), RecordID(type: "teams", key: "b"))

  @Test func areOverWithOneThatFindsNothing() throws {
    var rounds = DwindlingRounds()
    for round in [[Self.a, Self.b], [Self.a], [Self.b]] {
      for id in round { rounds.note([id]) }
      #expect(try rounds.end())
    }
    rounds.note([])
    #expect(try !rounds.end())
  }

  @Test func failWhereTheyAreAlikeAgainAndAgain() throws {
    var rounds = DwindlingRounds()
    // An app may bring a record back between two rounds.
    for _ in 0...3 {
      rounds.note([Self.a, Self.b])
      #expect(try rounds.end())
    }
    rounds.note([Self.a])
    rounds.note([])
    rounds.note([Self.b])
    let error = #expect(throws: SyncError.self) { try rounds.end() }
    #expect(error?.code == .storeUnreadable)
  }
}
