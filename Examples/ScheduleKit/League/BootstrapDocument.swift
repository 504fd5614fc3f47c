import ToolSupport

/// The part of the schedule that comes with the tool, as `Resources/bootstrap.json` holds it: every record but the
/// games, and baseball's games of the first week.
///
/// After a change to the tables, write it anew:
///
///     WRITE_BOOTSTRAP=1 swift test --filter theBundledDocumentIsWhatTheScheduleGives
enum BootstrapDocument {
  /// The document, a record to a line.
  ///
  /// - Parameter token: The token a type's next delta starts from, where it has one.
  static func text(token: (_ type: String) -> String? = { _ in nil }) -> String {
    let types = LeagueSchedule.types.map { type in
      let records = records(of: type).map(\.json).joined(separator: ",\n")
      let token = token(type).map { "\"token\":\(JSON.string($0).compact)," } ?? ""
      return "\"\(type)\":{\(token)\"records\":[\n\(records)\n]}"
    }
    return "{\"format\":1,\"types\":{\n\(types.joined(separator: ",\n"))\n}}\n"
  }

  /// The records of one type that it holds.
  static func records(of type: String) -> [LeagueRecord] {
    let records = LeagueSchedule.records(of: type)
    guard type == "games" else { return records }
    let league = League.baseball
    let end = league.calendar.days[0].advanced(by: 7)
    // Games are numbered from the first day on, in the order of the records.
    let count = Season(league: league).fixtures().prefix { $0.day < end }.count
    return Array(records.filter { $0.id.hasPrefix(league.seasonID) }.prefix(count))
  }
}
