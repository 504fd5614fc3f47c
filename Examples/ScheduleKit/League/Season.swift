import InMemoryAdapters

/// A game before it has a number: the teams and the time.
struct Fixture: Hashable {
  var home: Team
  var away: Team
  var day: Day
  var minute: Int
}

/// A league's season, the same every time.
///
/// Rounds of pairings follow one another. A round is one game or a short series at one place. A
/// season of two halves plays the same rounds twice, with home and away exchanged, so they balance
/// exactly. Every round has days of its own, enough for its games. Each pairing's games fall on
/// random days among them, so a team plays at most once a day.
struct Season {
  let league: League

  /// All games, by day, hour and home team.
  func fixtures() -> [Fixture] {
    var random = SplitMix64(named: league.seasonID)
    let teams = random.shuffled(league.teams)
    let roundRobin = RoundRobin(count: teams.count)
    var fixtures: [Fixture] = []
    for round in rounds {
      for (place, pairing) in roundRobin.pairings(in: round.pairings).enumerated() {
        let home = teams[round.isReturn ? pairing.away : pairing.home]
        let away = teams[round.isReturn ? pairing.home : pairing.away]
        let wait = random.number(below: round.days.count - round.games + 1)
        for day in round.days.dropFirst(wait).prefix(round.games) {
          let day = moved(day, place: place, of: teams.count / 2)
          let minute = league.hours.minute(on: day, using: &random)
          fixtures.append(Fixture(home: home, away: away, day: day, minute: minute))
        }
      }
    }
    return fixtures.sorted {
      ($0.day.number, $0.minute, $0.home.id) < ($1.day.number, $1.minute, $1.home.id)
    }
  }

  private struct Round {
    /// The round of the round robin.
    var pairings: Int
    /// Whether home and away are exchanged.
    var isReturn: Bool
    /// The number of games of each pairing.
    var games: Int
    /// The days of the round.
    var days: ArraySlice<Day>
  }

  private var rounds: [Round] {
    let halves = league.gamesPerTeam % 2 == 0 ? 2 : 1
    let gamesPerHalf = league.gamesPerTeam / halves
    let days = league.calendar.days
    return (0..<halves * league.roundsPerHalf).map { round in
      let (half, pairings) = round.quotientAndRemainder(dividingBy: league.roundsPerHalf)
      // Games are distributed over rounds, and days over games, as evenly as whole numbers allow.
      let before = gamesPerHalf * pairings / league.roundsPerHalf + half * gamesPerHalf
      let after = gamesPerHalf * (pairings + 1) / league.roundsPerHalf + half * gamesPerHalf
      let first = days.count * before / league.gamesPerTeam
      let end = days.count * after / league.gamesPerTeam
      return Round(pairings: pairings, isReturn: half == 1, games: after - before, days: days[first..<end])
    }
  }

  /// Moves the first pairing of a weekly league to Thursday, the last to Monday.
  ///
  /// They are the Thursday before the round's day and the Monday after it.
  private func moved(_ day: Day, place: Int, of count: Int) -> Day {
    guard league.calendar.days[1].number - league.calendar.days[0].number == 7 else { return day }
    return place == 0 ? day.advanced(by: -3) : place == count - 1 ? day.advanced(by: 1) : day
  }
}
