import CanonicalSync
import CanonicalSyncPages
import SyncAdapters

extension ReportPage {
  /// What is wrong, what to do about it, and when it is tried again.
  var advice: Part {
    Part(anchor: "advice", title: "What to do", content: list + failures + latest)
  }

  private var list: HTML {
    let advice = model.verdict.advice
    guard !advice.isEmpty else {
      return model.types.isEmpty ? "<p>Sync something into the store.</p>\n" : "<p>Nothing.</p>\n"
    }
    let (items, excerpt) = Excerpt(advice, of: advice.count).markup(within: Budget.advice / 2) { line in
      "<li>\(HTML.prose(line.shortened(to: 1000)))</li>\n"
    }
    return "<ul>\n\(items)</ul>\n" + excerpt.remainder("<code>sync-inspect status</code> has all")
      + Self.links(for: advice)
  }

  /// Links to the parts of the page that the lines are about.
  private static func links(for lines: [String]) -> HTML {
    let commands = ["outbox": "Outbox", "waiting": "Waiting records", "quarantine": "Quarantine"]
    var parts: [(anchor: String, title: String)] = []
    for line in lines {
      let named = commands.first { line.contains("`sync-inspect \($0.key)`") }
      // Each other line is about a type, or about a sync as a whole.
      let part =
        named.map { ($0.key, $0.value) }
        ?? (line.hasPrefix("sync ") ? ("syncs", "Syncs") : ("types", "Types"))
      if !parts.contains(where: { $0.anchor == part.0 }) { parts.append(part) }
    }
    let links = parts.map { "<a href=\"#\($0.anchor)\">\($0.title)</a>" as HTML }
    return "<p>The details: \(HTML(links, separator: ", ")).</p>\n"
  }

  private var failures: HTML {
    let failing = model.types.filter { $0.passes.lastError != nil }
    guard !failing.isEmpty else { return "" }
    let table = DataTable(
      "Failing types",
      [
        .text("type"), .text("error"), .number("failures in a row"), .text("up to date"),
        .text("tried again"),
      ],
      rows: failing.map { report in
        [
          "\(report.type.rawValue)", "\(report.passes.lastError?.code ?? "")",
          "\(report.passes.consecutiveFailures)",
          report.passes.lastSuccess.map(timeAndAge) ?? "never", retry(report.nextRetry),
        ]
      })
    return table.markup(
      within: Budget.advice / 2, of: failing.count, more: "<code>sync-inspect status</code> has all")
  }

  /// When a failed request is made again.
  private func retry(_ instant: Timestamp?) -> HTML {
    guard let instant, instant > model.writtenAt else { return "with the next sync" }
    return "not before \(timeAndAge(instant))"
  }

  /// How the latest sync ended.
  private var latest: HTML {
    guard let sync = model.syncs.first else { return "" }
    let began = timeAndAge(sync.began)
    let name: HTML = "<p>The latest sync, number \(Int(clamping: sync.number)), began \(began)"
    switch sync.outcome {
    case .finished where sync.typeFailures.isEmpty: return name + " and finished.</p>\n"
    case .finished:
      let failures = Counted(sync.typeFailures.count, "type that failed", "types that failed")
      return name + " and finished, with \(failures).</p>\n"
    case .stopped: return name + " and was stopped on request. The next one continues from there.</p>\n"
    case .failed: return name + " and failed. It is tried again with the next sync.</p>\n"
    case .running, .killed:
      return name
        + " and has not ended: it runs, or its process was killed. The next one continues from there.</p>\n"
    }
  }
}
