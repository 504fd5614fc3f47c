import CanonicalSync
import CanonicalSyncPages
import SyncAdapters

extension ReportPage {
  /// The records that wait for others, by what they wait for.
  var waiting: Part {
    Part(anchor: "waiting", title: "Waiting records", content: waitingContent)
  }

  private var waitingContent: HTML {
    let found = model.waiting
    guard found.count > 0 else { return "<p>No record waits for another one.</p>\n" }
    let table = DataTable(
      "The records that others wait for",
      [.text("missing"), .text("why"), .number("records"), .text("since"), .text("which")],
      rows: found.groups.prefix(ReportModel.Limit.groups).map { group in
        [
          "\(group.missing.description.shortened(to: 200))", "\(group.cause.words)", "\(group.count)",
          timeAndAge(group.since), "\(group.names.shortened(to: 300))",
        ]
      })
    return table.markup(
      within: Budget.waiting, of: found.groups.count, more: "<code>sync-inspect waiting</code> lists all")
  }
}
