import CanonicalSyncToolSupport

/// The built-in schedule: the real teams of four leagues, with an invented season each.
///
/// It has as many records as a real remote (more than 5,000 games), and is the same on every
/// machine. So the tool can be tried without a server and without files.
enum LeagueSchedule {
  /// The types of records, each after those it refers to.
  static let types = [
    "sports", "leagues", "divisions", "seasons", "stadiums", "stadium_aliases", "teams", "team_aliases",
    "games",
  ]

  /// Every record, in the order of ``types``.
  static func records() -> [LeagueRecord] {
    types.flatMap { records(of: $0) }
  }

  /// Every record of one type; none for an unknown type.
  static func records(of type: String) -> [LeagueRecord] {
    var maker = LeagueRecordMaker(type)
    switch type {
    case "sports": addSports(to: &maker)
    case "leagues": addLeagues(to: &maker)
    case "divisions": addDivisions(to: &maker)
    case "seasons": addSeasons(to: &maker)
    case "stadiums": addStadiums(to: &maker)
    case "stadium_aliases": addStadiumAliases(to: &maker)
    case "teams": addTeams(to: &maker)
    case "team_aliases": addTeamAliases(to: &maker)
    case "games": addGames(to: &maker)
    default: break
    }
    return maker.records
  }
}

extension LeagueSchedule {
  private static func addSports(to maker: inout LeagueRecordMaker) {
    for league in League.all {
      let name = league.sport.split(separator: "-").map(\.capitalized).joined(separator: " ")
      maker.add(league.sport, [("name", .string(name))])
    }
  }

  private static func addLeagues(to maker: inout LeagueRecordMaker) {
    for league in League.all {
      maker.add(
        league.id,
        [
          ("sport_id", .string(league.sport)), ("name", .string(league.name)),
          ("abbreviation", .string(league.id.uppercased())),
        ])
    }
  }

  private static func addDivisions(to maker: inout LeagueRecordMaker) {
    for league in League.all {
      for name in league.divisions {
        maker.add(league.divisionID(name), [("league_id", .string(league.id)), ("name", .string(name))])
      }
    }
  }

  private static func addSeasons(to maker: inout LeagueRecordMaker) {
    for league in League.all {
      maker.add(
        league.seasonID,
        [
          ("sport_id", .string(league.sport)), ("league_id", .string(league.id)), ("season", 2026),
          ("games_per_team", .integer(league.gamesPerTeam)),
        ])
    }
  }

  private static func addStadiums(to maker: inout LeagueRecordMaker) {
    for stadium in Stadium.all {
      // A hall that serves two sports belongs to neither.
      let tenants = League.all.filter { $0.teams.contains { $0.stadiumID == stadium.id } }
      maker.add(
        stadium.id,
        [
          ("sport_id", tenants.count == 1 ? .string(tenants[0].sport) : .null),
          ("name", .string(stadium.name)),
          ("city", .string(stadium.city)), ("timezone", .string(stadium.zone.name)),
        ])
    }
  }

  private static func addStadiumAliases(to maker: inout LeagueRecordMaker) {
    for stadium in Stadium.all {
      for alias in stadium.aliases {
        maker.add(
          "\(stadium.id)_\(slug(alias))", [("stadium_id", .string(stadium.id)), ("alias", .string(alias))])
      }
    }
  }

  private static func addTeams(to maker: inout LeagueRecordMaker) {
    for league in League.all {
      for team in league.teams {
        maker.add(
          team.id,
          [
            ("sport_id", .string(league.sport)), ("league_id", .string(league.id)),
            ("division_id", .string(league.divisionID(team.division))),
            ("stadium_id", .string(team.stadiumID)),
            ("name", .string(team.name)), ("city", team.city.isEmpty ? .null : .string(team.city)),
            ("abbreviation", .string(team.abbreviation)),
          ])
      }
    }
  }

  private static func addTeamAliases(to maker: inout LeagueRecordMaker) {
    for team in League.all.flatMap(\.teams) {
      for alias in team.aliases {
        maker.add("\(team.id)_\(slug(alias))", [("team_id", .string(team.id)), ("alias", .string(alias))])
      }
    }
  }

  private static func addGames(to maker: inout LeagueRecordMaker) {
    let zones = Dictionary(uniqueKeysWithValues: Stadium.all.map { ($0.id, $0.zone) })
    for league in League.all {
      for (offset, game) in Season(league: league).fixtures().enumerated() {
        let number = offset + 1
        let zone = zones[game.home.stadiumID] ?? Zone(name: "America/New_York")
        maker.add(
          "\(league.seasonID)-\(String(number + 10_000).dropFirst())",
          [
            ("sport_id", .string(league.sport)), ("league_id", .string(league.id)),
            ("season_id", .string(league.seasonID)), ("number", .integer(number)),
            ("home_team_id", .string(game.home.id)), ("away_team_id", .string(game.away.id)),
            ("stadium_id", .string(game.home.stadiumID)), ("date", .string(game.day.description)),
            ("starts_at", .string(zone.instant(of: game.day, at: game.minute))), ("status", "scheduled"),
          ])
      }
    }
  }
}

extension Substring {
  /// The word with a capital first letter.
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
