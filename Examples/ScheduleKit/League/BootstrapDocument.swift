import CanonicalSyncToolSupport

/// The bundled part of the schedule, in `Resources/bootstrap.json`.
///
/// It holds every record but the games, and baseball's games of the first week. After a change to
/// the tables, write it again:
///
///     WRITE_BOOTSTRAP=1 swift test --filter theBundledDocumentIsWhatTheScheduleGives
enum BootstrapDocument {
  /// The document, with one record a line.
  ///
  /// - Parameter token: Returns the token of a type's next delta, if there is one.
  static func text(token: (_ type: String) -> String? = { _ in nil }) -> String {
    let types = LeagueSchedule.types.map { type in
      let records = records(of: type).map(\.json).joined(separator: ",\n")
      let token = token(type).map { "\"token\":\(JSON.string($0).compact)," } ?? ""
      return "\"\(type)\":{\(token)\"records\":[\n\(records)\n]}"
    }
    return "{\"format\":1,\"types\":{\n\(types.joined(separator: ",\n"))\n}}\n"
  }

  /// The records of one type in the document.
  static func records(of type: String) -> [LeagueRecord] {
    let records = LeagueSchedule.records(of: type)
    guard type == "games" else { return records }
    let league = League.baseball
    let end = league.calendar.days[0].advanced(by: 7)
    // Games are numbered from the first day, in the order of the records.
    let count = Season(league: league).fixtures().prefix { $0.day < end }.count
    return Array(records.filter { $0.id.hasPrefix(league.seasonID) }.prefix(count))
  }
}
