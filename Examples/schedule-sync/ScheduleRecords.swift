import CanonicalSync

/// A game, as far as the report shows it.
struct GameRecord: SyncedRecord {
  static let recordType: RecordType = "games"
  var id: String
  var date: String?
  var homeTeam: String?

  enum CodingKeys: String, CodingKey {
    case id, date
    case homeTeam = "home_team_id"
  }
}

/// A team, as far as the report shows it.
struct TeamRecord: SyncedRecord {
  static let recordType: RecordType = "teams"
  var id: String
  var name: String?
}

/// A stadium, as far as the report shows it.
struct StadiumRecord: SyncedRecord {
  static let recordType: RecordType = "stadiums"
  var id: String
  var name: String?
}
