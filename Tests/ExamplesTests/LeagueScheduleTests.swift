import Foundation
import Testing

@testable import CanonicalSyncScheduleKit

@Suite("The built-in schedule")
struct LeagueScheduleTests {
  private static let records = LeagueSchedule.records()
  private let objects = records.map { record in
    (try? JSONSerialization.jsonObject(with: Data(record.json.utf8)) as? [String: Any]) ?? [:]
  }

  @Test(arguments: [
    ("sports", 4), ("leagues", 4), ("divisions", 24), ("seasons", 4), ("stadiums", 111),
    ("stadium_aliases", 124), ("teams", 124), ("team_aliases", 129), ("games", 5_244),
  ])
  func hasSoManyRecordsOfAType(_ type: String, _ count: Int) {
    #expect(Self.records.count { $0.type == type } == count)
  }

  @Test func namesEachTypeAfterThoseItRefersTo() {
    var order: [String] = []
    for record in Self.records where order.last != record.type { order.append(record.type) }
    #expect(order == LeagueSchedule.types)
  }

  @Test func givesEachRecordAnIdOfItsOwnAndATimeBeforeTheSeason() {
    #expect(Set(Self.records.map { "\($0.type)/\($0.id)" }).count == Self.records.count)
    for (record, object) in zip(Self.records, objects) {
      #expect(object["id"] as? String == record.id)
      #expect(object["updated_at"] as? Int64 == record.updatedAt)
      #expect((1_756_684_800_000..<1_764_460_800_000).contains(record.updatedAt))
    }
    #expect(Set(Self.records.map(\.updatedAt)).count > Self.records.count * 9 / 10)
  }

  @Test func refersToNothingThatIsNotThere() {
    let types = [
      "sport_id": "sports", "league_id": "leagues", "division_id": "divisions", "season_id": "seasons",
      "stadium_id": "stadiums", "team_id": "teams", "home_team_id": "teams", "away_team_id": "teams",
    ]
    let ids = Set(Self.records.map { "\($0.type)/\($0.id)" })
    var count = 0
    for (record, object) in zip(Self.records, objects) {
      for (field, value) in object where field.hasSuffix("_id") && !(value is NSNull) {
        #expect(ids.contains("\(types[field] ?? "?")/\(value)"), "\(field) of \(record.id)")
        count += 1
      }
    }
    #expect(count > 5_244 * 6)
  }

  @Test func isTheSameEveryTime() {
    #expect(LeagueSchedule.records() == Self.records)
    // The digest is the same on every machine. It changes only with the tables.
    let text = Self.records.map(\.json).joined(separator: "\n")
    let digest = text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    #expect(digest == 9_079_376_373_177_430_293)
  }

  @Test func hasNoStadiumWithoutATeam() {
    let used = Set(League.all.flatMap(\.teams).map(\.stadiumID))
    #expect(Set(Stadium.all.map(\.id)) == used)
  }

  @Test func putsAGameWhereTheHomeTeamPlaysAtAnHourThatIsRightThere() throws {
    let stadiums = Dictionary(uniqueKeysWithValues: Stadium.all.map { ($0.id, $0) })
    let teams = Dictionary(
      uniqueKeysWithValues: League.all.flatMap(\.teams).map { ($0.id, $0) })
    let leagues = Dictionary(uniqueKeysWithValues: League.all.map { ($0.id, $0) })
    for game in objects where game["status"] != nil {
      let home = try #require(teams[game["home_team_id"] as? String ?? ""])
      #expect(game["stadium_id"] as? String == home.stadiumID)
      #expect(game["status"] as? String == "scheduled")
      // The system's time zone tables give the hour there. Provinces have been changing their
      // rules; these have not.
      let name = stadiums[home.stadiumID]?.zone.name ?? ""
      guard ["New_York", "Chicago", "Denver", "Phoenix", "Los_Angeles"].contains(name.dropFirst(8)) else {
        continue
      }
      let zone = try #require(TimeZone(identifier: name))
      let start = try Date(game["starts_at"] as? String ?? "", strategy: .iso8601)
      let style = Date.ISO8601FormatStyle(timeZone: zone)
      let local = start.formatted(style.year().month().day().time(includingFractionalSeconds: false))
      #expect(local.hasPrefix(game["date"] as? String ?? "?"))
      let hours = try #require(leagues[game["league_id"] as? String ?? ""]).hours
      #expect((hours.weekday + hours.weekend).contains { local.hasSuffix("T\($0):00") }, "\(local)")
    }
  }
}

@Suite("A league's season")
struct SeasonTests {
  @Test(arguments: [("mlb", 162, 30), ("nba", 82, 30), ("nhl", 82, 32), ("nfl", 17, 32)])
  func isExactlyAsLongForEachTeamAndBalanced(_ id: String, _ games: Int, _ teams: Int) throws {
    let league = try #require(League.all.first { $0.id == id })
    let fixtures = Season(league: league).fixtures()
    #expect(league.teams.count == teams)
    #expect(fixtures.count == games * teams / 2)
    for team in league.teams {
      let home = fixtures.count { $0.home == team }
      let away = fixtures.count { $0.away == team }
      #expect(home + away == games)
      #expect(abs(home - away) == games % 2, "\(team.name): \(home) at home, \(away) away")
    }
  }

  @Test(arguments: League.all.map(\.id))
  func hasNoTeamPlayTwiceOnADay(_ id: String) throws {
    let league = try #require(League.all.first { $0.id == id })
    let fixtures = Season(league: league).fixtures()
    let appearances = fixtures.flatMap { ["\($0.home.id) \($0.day)", "\($0.away.id) \($0.day)"] }
    #expect(Set(appearances).count == 2 * fixtures.count)
    #expect(fixtures.allSatisfy { $0.home != $0.away })
  }

  @Test(arguments: [
    ("mlb", "2026-03-26", "2026-09-27", 150), ("nba", "2026-10-20", "2027-04-11", 150),
    ("nhl", "2026-10-06", "2027-04-15", 150), ("nfl", "2026-09-10", "2027-01-11", 48),
  ])
  func fillsItsMonths(_ id: String, _ first: String, _ last: String, _ days: Int) throws {
    let league = try #require(League.all.first { $0.id == id })
    let played = Season(league: league).fixtures().map(\.day)
    #expect(played.first?.description == first)
    #expect(played.last?.description == last)
    #expect(Set(played).count >= days)
  }

  @Test(arguments: [("mlb", 29), ("nba", 29), ("nhl", 31), ("nfl", 17)])
  func hasEveryTeamMeetAsManyOthersAsItCan(_ id: String, _ opponents: Int) throws {
    let league = try #require(League.all.first { $0.id == id })
    let fixtures = Season(league: league).fixtures()
    for team in league.teams {
      let met = fixtures.compactMap { $0.home == team ? $0.away : $0.away == team ? $0.home : nil }
      #expect(Set(met).count == opponents)
    }
  }

  @Test func isOnSundaysInFootballWithAThursdayAndAMonday() {
    let weekdays = Season(league: .football).fixtures().map(\.day.weekday)
    #expect(weekdays.count { $0 == 4 } == 17)
    #expect(weekdays.count { $0 == 1 } == 17)
    #expect(weekdays.count { $0 == 0 } == 272 - 34)
  }

  @Test(arguments: [4, 30, 32], [1, 3, 17, 29, 31, 100])
  func balancesHomeAndAwayAfterAnyNumberOfRounds(_ count: Int, _ rounds: Int) {
    var balance = Array(repeating: 0, count: count)
    for round in 0..<rounds {
      let pairings = RoundRobin(count: count).pairings(in: round)
      #expect(Set(pairings.flatMap { [$0.home, $0.away] }) == Set(0..<count))
      for pairing in pairings {
        balance[pairing.home] += 1
        balance[pairing.away] -= 1
      }
    }
    #expect(balance.allSatisfy { abs($0) <= 2 })
  }

  @Test(arguments: [
    (1970, 1, 1, 0), (2000, 2, 29, 11_016), (2026, 3, 1, 20_513), (2026, 12, 31, 20_818),
    (2100, 3, 1, 47_541),
  ])
  func countsDaysAsTheCalendarDoes(_ year: Int, _ month: Int, _ day: Int, _ number: Int) {
    #expect(Day(year, month, day).number == number)
    #expect(Day(number: number).date == (year, month, day))
  }
}
