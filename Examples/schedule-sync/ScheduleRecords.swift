import CanonicalSync

/// The fields of a game in the report.
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

/// The fields of a team in the report.
struct TeamRecord: SyncedRecord {
  static let recordType: RecordType = "teams"
  var id: String
  var name: String?
}

/// The fields of a stadium in the report.
struct StadiumRecord: SyncedRecord {
  static let recordType: RecordType = "stadiums"
  var id: String
  var name: String?
}
