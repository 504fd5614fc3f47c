/// A league: its teams in their divisions, and the layout of its season.
struct League {
  let id: String
  let name: String
  let sport: String
  let gamesPerTeam: Int
  /// The number of games or series of each team in one half of the season.
  let roundsPerHalf: Int
  let calendar: Calendar
  let hours: Hours
  let teams: [Team]

  /// The four leagues of the schedule.
  static let all = [baseball, basketball, football, hockey]

  init(
    id: String, name: String, sport: String, gamesPerTeam: Int, roundsPerHalf: Int, calendar: Calendar,
    hours: Hours, table: String
  ) {
    self.id = id
    self.name = name
    self.sport = sport
    self.gamesPerTeam = gamesPerTeam
    self.roundsPerHalf = roundsPerHalf
    self.calendar = calendar
    self.hours = hours
    var division = ""
    var teams: [Team] = []
    for row in FactTable.rows(of: table) {
      if row[0].hasPrefix("# ") {
        division = String(row[0].dropFirst(2))
      } else {
        teams.append(Team(row, division: division, league: id))
      }
    }
    self.teams = teams
  }

  var seasonID: String { "\(id)-2026" }

  /// The divisions, in the table's order.
  var divisions: [String] {
    teams.map(\.division).reduce(into: []) { seen, name in
      if seen.last != name { seen.append(name) }
    }
  }

  func divisionID(_ name: String) -> String { "\(id)-\(slug(name))" }
}

/// A team, from a row of its league's table.
struct Team: Hashable {
  let id: String
  let abbreviation: String
  let city: String
  let name: String
  let division: String
  let stadiumID: String
  /// Former names and nicknames.
  let aliases: [String]

  init(_ row: [String], division: String, league: String) {
    id = "\(league)-\(row[0].lowercased())"
    abbreviation = row[0]
    city = row[1]
    name = row[1].isEmpty ? row[2] : "\(row[1]) \(row[2])"
    stadiumID = row[3]
    aliases = FactTable.list(row[4])
    self.division = division
  }
}

/// A name as a part of an id: its ASCII letters and digits, joined by dashes.
func slug(_ name: String) -> String {
  name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.joined(separator: "-")
}
