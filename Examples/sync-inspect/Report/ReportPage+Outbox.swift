import CanonicalSync
import CanonicalSyncPages
import CanonicalSyncToolSupport
import SyncAdapters

extension ReportPage {
  /// The edits that the remote has not acknowledged, the oldest first.
  var outbox: Part {
    Part(anchor: "outbox", title: "Outbox", content: outboxContent)
  }

  private var outboxContent: HTML {
    let edits = model.edits
    guard !edits.isEmpty else { return "<p>No edit waits to be pushed.</p>\n" }
    let table = DataTable(
      "The edits in the outbox, the oldest first",
      [
        .text("record"), .text("what"), .text("edited"), .number("attempts"), .text("state"), .text("reason"),
        .text("next attempt"),
      ],
      rows: edits.shown.map(row))
    return counts
      + table.markup(
        within: Budget.edits, of: edits.total, more: "<code>sync-inspect outbox</code> lists all")
  }

  /// The numbers of edits by state, of all and not only of those listed.
  private var counts: HTML {
    let numbers = PendingEdit.Kind.allCases.compactMap { kind -> HTML? in
      let number = model.types.reduce(0) { $0 + ($1.waiting[kind] ?? 0) }
      return number == 0 ? nil : "\(number) \(kind.state)"
    }
    let total = Counted(model.edits.total ?? model.edits.shown.count, "edit")
    return "<p>\(total), the oldest first: \(HTML(numbers, separator: ", ")).</p>\n"
  }

  private func row(_ edit: PendingEdit) -> [HTML?] {
    let entry = edit.entry
    return [
      "\(entry.id.description.shortened(to: 200))", "\(Inspection.what(entry.edit.content))",
      timeAndAge(entry.edit.stamp.physical), "\(entry.attempts)",
      "<span class=\"\(edit.kind == .change ? "bad" : "plain")\">\(edit.kind.state)</span>",
      edit.words.map { "\($0.shortened(to: 300))" }, next(edit),
    ]
  }

  /// When the edit is sent next.
  private func next(_ edit: PendingEdit) -> HTML {
    switch edit.wait {
    case .push, .answer, .room: "with the next sync"
    case .time(let instant):
      instant > model.writtenAt ? "not before \(timeAndAge(instant))" : "with the next sync"
    case .change: "after another edit, or <code>sync-inspect edit --retry</code>"
    case .release: "once the app releases it"
    case .records: "once the other records allow it"
    case .upgrade: "after an update of the app"
    }
  }
}

extension PendingEdit {
  /// The reason to wait, if it was given in words.
  fileprivate var words: String? {
    switch wait {
    case .push, .answer, .release, .room, .time: nil
    case .change(let reason), .records(_, let reason), .upgrade(let reason): reason
    }
  }
}

extension PendingEdit.Kind {
  /// The state of an edit that waits for this, for a person.
  fileprivate var state: String {
    switch self {
    case .push: "not sent yet"
    case .answer: "sent, not answered"
    case .time: "postponed"
    case .change: "refused"
    case .release: "draft"
    case .room: "waiting for room at the remote"
    case .records: "waiting for other records"
    case .upgrade: "waiting for an update of the app"
    }
  }
}
