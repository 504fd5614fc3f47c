import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters
import SyncJSON
import SyncMaintenance

/// Prints the results of a verification.
struct Verification {
  let isJSON: Bool
  private let output = StandardStream.output

  init(isJSON: Bool) {
    self.isJSON = isJSON
  }

  /// Verifies a store, which may be in use.
  ///
  /// A file that is no store, or is too damaged to open, is a finding as well.
  ///
  /// - Returns: Success for a store without contradiction.
  func run(at path: String, isQuick: Bool) async throws(SyncError) -> ExitCode {
    let stop = CancellationSource()
    let interrupt = Interrupt { stop.cancel() }
    defer { withExtendedLifetime(interrupt) {} }
    var report = VerificationReport()
    var isOpen = false
    let screen = PatientBar()
    do throws(SyncError) {
      let store = try await openStore(at: path)
      isOpen = true
      if !isQuick, StandardStream.error.isTerminal { screen.say("Checking the store's own format.") }
      let check = StoreVerification(of: store, isQuick: isQuick) { screen.show($0) }
      report = try await check.run(token: stop)
      screen.finish()
    } catch {
      screen.finish()
      switch error.code {
      case .storeUnreadable: report.add([StoreFinding(.file, error.message)])
      case .cancelled:
        if isJSON { output.line(JSON.cancelled) }
        return .interrupted
      default: throw error
      }
    }
    show(report, isOpen: isOpen)
    return report.isSound ? .success : .failure
  }

  private func show(_ report: VerificationReport, isOpen: Bool) {
    guard !isJSON else { return output.line(Self.object(report)) }
    for finding in report.findings { output.prose(Self.line(finding.description)) }
    if report.count > report.findings.count {
      output.line("… and \(Counted(report.count - report.findings.count, "more contradiction").grouped).")
    }
    let checked = StoreFinding.Part.allCases.compactMap { part in
      report.checked[part].map { "\($0) \(Self.words(part, count: $0))" }
    }
    let amount = checked.isEmpty ? "" : " Checked: \(checked.joined(separator: ", "))."
    output.prose(
      report.isSound
        ? "The store is sound.\(amount)"
        : isOpen
          ? "The store has \(Counted(report.count, "contradiction").grouped).\(amount) `sync-inspect salvage` makes a new store of it."
          : "It cannot be opened. If it was a store, `sync-inspect salvage` makes a new one of what can be read."
    )
  }

  /// The text on one line: a key must not affect the terminal.
  static func line(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) else {
      return text
    }
    return String(decoding: JSONString.quoted(text), as: UTF8.self)
  }

  private static func words(_ part: StoreFinding.Part, count: Int) -> String {
    let (one, many) =
      switch part {
      case .rows: ("row", "rows")
      case .withheld: ("withheld change", "withheld changes")
      case .outbox: ("pending edit", "pending edits")
      case .conflicts: ("conflict", "conflicts")
      case .values: ("kept value", "kept values")
      case .naturalKeys: ("group of duplicates", "groups of duplicates")
      case .file, .schema, .references, .counts: (part.rawValue, part.rawValue)
      }
    return count == 1 ? one : many
  }

  private static func object(_ report: VerificationReport) -> JSON {
    [
      "sound": .bool(report.isSound), "count": .integer(report.count),
      "checked": .object(
        StoreFinding.Part.allCases.compactMap { part in
          report.checked[part].map { (part.rawValue, .integer($0)) }
        }),
      "findings": .array(
        report.findings.map { finding in
          [
            "part": .string(finding.part.rawValue), "type": .text(finding.type?.rawValue),
            "key": .text(finding.key), "detail": .string(finding.detail),
          ]
        }),
    ]
  }
}
