/// A place where games are played, by the teams of one league or several.
struct Stadium {
  let id: String
  let name: String
  let city: String
  let zone: Zone
  /// Former names, mostly former sponsors'.
  let aliases: [String]

  /// Every stadium, once.
  static let all: [Stadium] = FactTable.rows(of: table).map { row in
    Stadium(
      id: row[0], name: row[1], city: row[2], zone: Zone(name: "America/\(row[3])"),
      aliases: FactTable.list(row[4]))
  }
}
