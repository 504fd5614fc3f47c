import CanonicalSync
import CanonicalSyncToolSupport
import Foundation
import SyncAdapters

/// The report after a sync: the counts, a few reads from the store, and next steps.
struct ScheduleReport {
  private let result: SyncResult
  private let records: LocalRecords
  private let options: ScheduleOptions
  private let live: [RecordType: Int]
  /// The number of remote changes that wait for missing records, or for removals.
  private let waiting: Int
  /// The number of edits in the outbox.
  private let waitingEdits: Int
  /// The number of malformed records.
  private let malformed: Int
  private let output = StandardStream.output

  init(_ result: SyncResult, of engine: SyncEngine, options: ScheduleOptions) async throws(SyncError) {
    self.result = result
    self.records = engine.records
    self.options = options
    let status = try await engine.status()
    self.live = status.live
    self.waiting = status.reduce(0) {
      $0 + $1.withheld[.parked, default: 0] + $1.withheld[.held, default: 0]
    }
    self.malformed = status.reduce(0) { $0 + $1.withheld[.quarantined, default: 0] }
    self.waitingEdits = status.reduce(0) { $0 + $1.pending }
  }

  func print() async {
    output.line("The sync \(outcome) after \(seconds) s. These are its counts, and the records in the store:")
    output.line("")
    output.line(result.table(live: live).text(fitting: output.width))
    printWaiting()
    printWaitingEdits()
    await printGames()
    output.line("")
    for line in suggestions {
      output.line(
        line.hasPrefix("  Ex") ? "  " + Command.command(String(line.dropFirst(2)), indent: 6) : line)
    }
    if options.isJSON { output.line(json) }
  }

  private var outcome: String {
    if result.wasCancelled { return "was stopped" }
    return result.failures.isEmpty ? "ended" : "ended with failures"
  }

  private var seconds: String { String(format: "%.2f", result.duration / .seconds(1)) }

  private func printWaiting() {
    guard waiting > 0 else { return }
    output.line("")
    let subject = Counted(waiting, "change waits", "changes wait")
    output.line("\(subject.grouped) for records that are not there, or for others to go;")
    output.line("`sync-inspect status` tells how many of which type, and `explain` why.")
  }

  private func printWaitingEdits() {
    guard waitingEdits > 0 else { return }
    output.line("")
    let subject = Counted(waitingEdits, "edit waits", "edits wait")
    output.line("\(subject.grouped) in the outbox, since this remote takes none: see `sync-inspect outbox`.")
  }

  // MARK: Reads

  /// Prints some games, if the records have the fields of the report.
  private func printGames() async {
    let lines: [String]
    do throws(SyncError) {
      lines = try await games()
    } catch {
      // The remote's records may have any form. What is synced is synced.
      lines = ["", "Some records cannot be shown here as games and teams: \(error)."]
    }
    for line in lines { output.line(line) }
  }

  private func games() async throws(SyncError) -> [String] {
    var lines: [String] = []
    let latest = try await records.filter(GameRecord.self, order: [.descending("date")], limit: 1).first
    guard let latest, let last = latest.date else { return lines }
    if let home = latest.homeTeam, let team = try await records.find(TeamRecord.self, key: home) {
      let count = try await records.count(
        GameRecord.self, where: .equal("home_team_id", .string(home)))
      lines.append("")
      lines.append(
        "\(team.name ?? home) play \(Counted(count, "game at home", "games at home, the last ones").grouped):"
      )
      lines += try await table(
        where: .equal("home_team_id", .string(home)), order: [.descending("date")], limit: 5)
    }
    guard let first = Self.day(6, before: last) else { return lines }
    let week = Condition.range("date", from: .string(first), to: .string(last))
    let count = try await records.count(GameRecord.self, where: week)
    lines.append("")
    lines.append(
      "From \(first) to \(last) there \(Counted(count, "is", "are").words) \(Counted(count, "game", "games, the first ones").grouped):"
    )
    return lines + (try await table(where: week, order: ["date"], limit: 5))
  }

  private func table(
    where condition: Condition, order: [Query.SortField], limit: Int
  ) async throws(SyncError) -> [String] {
    let games = try await records.filter(
      GameRecord.self, where: condition, order: order, limit: limit,
      including: ["home_team_id", "away_team_id", "stadium_id"])
    return try games.map { (game) throws(SyncError) in
      let home = try game.reference("home_team_id", as: TeamRecord.self)?.name ?? "?"
      let away = try game.reference("away_team_id", as: TeamRecord.self)?.name ?? "?"
      let place = try game.reference("stadium_id", as: StadiumRecord.self)?.name.map { ", \($0)" } ?? ""
      return "  \(game.record.date ?? "?")  \(away) at \(home)\(place)"
    }
  }

  private static func day(_ days: Int, before date: String) -> String? {
    let style = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()
    guard let end = try? Date(date, strategy: style) else { return nil }
    return end.addingTimeInterval(-86_400 * Double(days)).formatted(style)
  }

  // MARK: What next

  private var suggestions: [String] {
    let store = "--store \(Self.quoted(options.store))"
    if result.wasCancelled {
      return ["The fetched pages are saved. Run the same command again to resume."]
    }
    func inspect(_ command: String, _ meaning: String) -> [String] {
      ["  Examples/run sync-inspect \(command) \(store)", "      \(meaning)"]
    }
    if !result.failures.isEmpty {
      return ["The fetched pages are saved. Try next:"] + inspect("status", "what failed, and what to do")
    }
    let data = options.data.map { " --data \(Self.quoted($0))" } ?? ""
    let type = live.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key.rawValue
    return [
      "Try next:", "  Examples/run schedule-sync \(store)\(data)",
      "      again: only what changed is fetched",
    ] + inspect("status", "whether all is well, and the status of each type")
      + (type.map { ["  Examples/run sync-inspect export --type \(Self.quoted($0)) \(store) | head -5"] }
        ?? [])
      + (malformed > 0 ? inspect("quarantine", "what is malformed") : [])
      + (waiting > 0 ? inspect("waiting", "what is missing") : [])
      + (waitingEdits > 0 ? inspect("outbox", "the edits that wait") : [])
  }

  /// A word as a shell reads it.
  private static func quoted(_ word: String) -> String {
    word.contains(#/[^A-Za-z0-9_.,:\/@%+=-]/#) ? "'\(word.replacing("'", with: #"'\''"#))'" : word
  }

  private var json: JSON {
    .object(
      result.members(live: live) + [
        ("waiting", .integer(waiting)), ("waitingEdits", .integer(waitingEdits)),
      ])
  }
}
