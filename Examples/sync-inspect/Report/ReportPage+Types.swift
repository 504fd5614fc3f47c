import CanonicalSync
import CanonicalSyncPages
import CanonicalSyncToolSupport

extension ReportPage {
  /// Each type's size, age and withheld changes.
  var types: Part {
    Part(anchor: "types", title: "Types", content: typesContent)
  }

  private static let kinds: [(kind: WithheldChange.Kind, meaning: HTML)] = [
    (.parked, "for records that it refers to"),
    (.held, "a deletion that waits until nothing refers to the record"),
    (.incompatible, "needs a newer version of the app"),
    (.quarantined, "malformed"),
    (.staged, "waits for the publication of its whole type"),
    (.missing, "was missing from one listing, and goes if the next one lacks it too"),
    (.hidden, "hidden by a clean-up"),
  ]

  private var typesContent: HTML {
    guard !model.types.isEmpty else { return "<p>The store has no types yet.</p>\n" }
    let table = DataTable(
      "State of each type",
      [
        .text("type"), .number("records"), .text("up to date"), .text("age of the token"),
        .number("successes"), .number("failures"), .number("failures in a row"),
      ] + Self.kinds.map { .number($0.kind.word) } + [
        .number("edits"), .number("refused"), .text("pass under way"), .text("sweep"),
      ],
      rows: model.types.map(row))
    let withheld = Self.kinds.filter { kind in model.types.contains { ($0.withheld[kind.kind] ?? 0) > 0 } }
    let legend: HTML =
      withheld.isEmpty
      ? ""
      : "<dl>\n\(withheld.map { "<dt>\($0.kind.word)</dt><dd>\($0.meaning)</dd>\n" as HTML })</dl>\n"
    return table.markup(
      within: Budget.types, of: model.types.count, more: "<code>sync-inspect status</code> has all")
      + legend
  }

  private func row(_ report: TypeStatus) -> [HTML?] {
    let count = Self.count
    let status = report.passes
    let pass = report.inFlight.map { pass -> HTML in
      let total: HTML = pass.total.map { " of \($0)" } ?? ""
      return "number \(Int(clamping: pass.number)), \(pass.fetched)\(total) fetched"
    }
    return [
      "\(report.type.rawValue.shortened(to: 200))", "\(report.live)",
      status.lastSuccess.map(timeAndAge) ?? "never",
      report.tokenAge.map { "\($0.roughly)" } ?? "no token", count(status.successes),
      count(status.failures), count(status.consecutiveFailures),
    ] + Self.kinds.map { count(report.withheld[$0.kind] ?? 0) } + [
      count(report.pending), count(report.refused), pass,
      report.sweep.map { $0.refusal == nil ? "due" : "needs permission" },
    ]
  }
}
