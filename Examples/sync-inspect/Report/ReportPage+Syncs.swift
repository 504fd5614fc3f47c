import CanonicalSync
import CanonicalSyncPages
import CanonicalSyncToolSupport
import SyncAdapters

extension ReportPage {
  /// The syncs over time, and the numbers of each.
  var syncs: Part {
    Part(anchor: "syncs", title: "Syncs", content: syncsContent)
  }

  /// How long syncs took, and how much they fetched, over time.
  var speed: Part {
    Part(
      anchor: "speed", title: "Throughput and latency",
      content: SyncCharts(model.syncs).speed ?? "<p>No sync has been measured yet.</p>\n")
  }

  /// The number of syncs that are shown without opening anything.
  private static let latest = 10

  private var syncsContent: HTML {
    let syncs = model.syncs
    guard !syncs.isEmpty else {
      return "<p>The store has no history yet: no sync of this version has ended.</p>\n"
    }
    let (first, shown) = table("The latest syncs", syncs.prefix(Self.latest)).markup(within: Budget.syncs)
    let older = syncs.dropFirst(shown)
    let rest = table("The syncs before", older).markup(within: Budget.syncs - first.size)
    let details: HTML =
      rest.shown == 0
      ? "" : HTML.details("The \(Counted(rest.shown, "sync", "syncs")) before", rest.table)
    return SyncCharts(syncs).outcomes + first + details
      + Excerpt(Array(syncs.prefix(shown + rest.shown)), of: syncs.count).remainder(
        "<code>sync-inspect history --limit 1000</code> lists all")
  }

  private func table(_ label: String, _ syncs: ArraySlice<PastSync>) -> DataTable {
    DataTable(
      label,
      [
        .number("sync"), .text("began"), .text("trigger"), .text("outcome"), .number("seconds"),
        .number("fetched"), .number("inserted"), .number("updated"), .number("deleted"),
        .number("quarantined"), .number("pushed"), .number("requests"), .number("retries"), .number("bytes"),
        .text("failures"),
      ], rows: syncs.map(row))
  }

  private func row(_ sync: PastSync) -> [HTML?] {
    let count = Self.count
    let isOver = sync.outcome != .running && sync.outcome != .killed
    return [
      "\(Int(clamping: sync.number))", Self.time(sync.began),
      "\(sync.triggers.joined(separator: ", ").shortened(to: 100))",
      "<span class=\"\(sync.mark)\">\(sync.words)</span>",
      isOver ? "\(sync.seconds.brief)" : nil, count(sync.total("fetched")), count(sync.total("inserted")),
      count(sync.total("updated")), count(sync.total("deleted")), count(sync.total("quarantined")),
      count(sync.pushed["accepted"] ?? 0), count(sync.total("requests") + (sync.pushed["requests"] ?? 0)),
      count(sync.retries), count(sync.bytes), Self.failures(of: sync),
    ]
  }

  private static let shownFailures = 2

  private static func failures(of sync: PastSync) -> HTML? {
    let failures = sync.failures
    guard !failures.isEmpty else { return nil }
    let shown = failures.prefix(shownFailures).map { failure -> HTML in "\(failure.shortened(to: 200))" }
    let rest = failures.count - shown.count
    return HTML(shown, separator: "<br>") + (rest > 0 ? "<br>and \(Counted(rest, "other", "others"))" : "")
  }
}

extension PastSync {
  /// The outcome in words.
  fileprivate var words: String {
    outcome == .finished && !typeFailures.isEmpty ? "finished in part" : outcome.rawValue
  }

  /// The class of the sync's outcome on a page.
  fileprivate var mark: String {
    switch outcome {
    case .finished: typeFailures.isEmpty ? "good" : "warning"
    case .stopped, .running: "warning"
    case .failed, .killed: "bad"
    }
  }
}
