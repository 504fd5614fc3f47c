import Foundation
import Testing

@testable import CanonicalSyncScheduleKit

@Suite("The bootstrap document")
struct BootstrapDocumentTests {
  private static let file = URL(filePath: #filePath)
    .appending(path: "../../../Examples/ScheduleKit/Resources/bootstrap.json").standardized

  @Test func theBundledDocumentIsWhatTheScheduleGives() async throws {
    let tokens = try await BuiltInRemote.bundledTokens()
    let text = BootstrapDocument.text { tokens[$0] }
    if ProcessInfo.processInfo.environment["WRITE_BOOTSTRAP"] != nil {
      try text.write(to: Self.file, atomically: true, encoding: .utf8)
    }
    let bundled = try String(contentsOf: Self.file, encoding: .utf8)
    // The expectation compares a Boolean, because a failure would otherwise print both texts.
    #expect(bundled.utf8.elementsEqual(text.utf8), "run once with WRITE_BOOTSTRAP=1 to write it anew")
    #expect(bundled.utf8.count < 400_000)
  }

  @Test func holdsEverythingButMostGames() throws {
    let data = Data(BootstrapDocument.text { $0 == "teams" ? "t\"1" : nil }.utf8)
    let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let types = try #require(document["types"] as? [String: [String: Any]])
    #expect(document["format"] as? Int == 1)
    #expect(types.keys.sorted() == LeagueSchedule.types.sorted())
    #expect(types.compactMapValues { $0["token"] as? String } == ["teams": "t\"1"])
    for type in LeagueSchedule.types.dropLast() {
      let records = try #require(types[type]?["records"] as? [[String: Any]])
      #expect(records.count == LeagueSchedule.records(of: type).count)
    }
    let games = try #require(types["games"]?["records"] as? [[String: Any]])
    let dates = games.compactMap { $0["date"] as? String }
    #expect(games.allSatisfy { $0["league_id"] as? String == "mlb" })
    #expect(dates.min() == "2026-03-26")
    #expect(dates.max() == "2026-04-01")
    let all = Season(league: .baseball).fixtures()
    #expect(games.count == all.count { $0.day.description <= "2026-04-01" })
  }
}
