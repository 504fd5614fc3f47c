import CanonicalSync

/// A team of the league.
package struct Team: SyncedRecord {
  package static let recordType: RecordType = "teams"
  package var id: String
  package var name: String
}

/// A game between two teams.
package struct Game: SyncedRecord {
  package static let recordType: RecordType = "games"
  package var id: String
  package var date: String
  package var homeTeam: String
  package var awayTeam: String

  private enum CodingKeys: String, CodingKey {
    case id, date
    case homeTeam = "home_team_id"
    case awayTeam = "away_team_id"
  }
}

/// The schema of the schedule's records. A game is never shown before its teams.
package func scheduleSchema() throws(SyncError) -> SyncSchema {
  try SyncSchema(
    Entity("teams"),
    Entity(
      "games", references: [.to("teams", by: "home_team_id"), .to("teams", by: "away_team_id")],
      indexes: ["date"]))
}
