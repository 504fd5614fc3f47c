import CanonicalSync

/// The record types of a sports schedule, and their references.
enum ScheduleTypes {
  static let entities = [
    Entity("sports"),
    Entity("leagues", references: [.to("sports", by: "sport_id")]),
    Entity("divisions", references: [.to("leagues", by: "league_id")]),
    Entity(
      "seasons", references: [.to("sports", by: "sport_id"), .to("leagues", by: "league_id")]),
    Entity("stadiums", references: [.to("sports", by: "sport_id")]),
    Entity("stadium_aliases", references: [.to("stadiums", by: "stadium_id")]),
    Entity(
      "teams",
      references: [
        .to("sports", by: "sport_id"), .to("leagues", by: "league_id"), .to("divisions", by: "division_id"),
        .to("stadiums", by: "stadium_id"),
      ], indexes: ["name"]),
    Entity("team_aliases", references: [.to("teams", by: "team_id")]),
    Entity(
      "games",
      references: [
        .to("sports", by: "sport_id"), .to("leagues", by: "league_id"), .to("seasons", by: "season_id"),
        .to("teams", by: "home_team_id"), .to("teams", by: "away_team_id"),
        .to("stadiums", by: "stadium_id"),
      ], indexes: ["date"]),
  ]
}
