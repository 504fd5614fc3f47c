import CanonicalSync
import CanonicalSyncPages
import SyncAdapters

extension ReportPage {
  /// The conflicts of edits, side by side, the newest first.
  var conflicts: Part {
    Part(anchor: "conflicts", title: "Conflicts", content: conflictsContent)
  }

  /// The number of conflicts that are shown without opening them.
  private static let open = 3
  /// The most members shown of one conflict.
  private static let shownMembers = 40

  private var conflictsContent: HTML {
    guard !model.conflicts.isEmpty else { return "<p>No edit has met another one.</p>\n" }
    var number = 0
    let (items, excerpt) = model.conflicts.markup(within: Budget.conflicts) { conflict in
      number += 1
      return item(conflict, isOpen: number <= Self.open)
    }
    let note: HTML =
      model.showsContents
      ? "" : "<p>Values are left out; <code>--contents</code> includes them.</p>\n"
    return note + HTML(items) + excerpt.remainder("<code>sync-inspect conflicts --limit N</code> lists them")
  }

  private func item(_ conflict: Conflict, isOpen: Bool) -> HTML {
    let id = conflict.id.description.shortened(to: 200)
    let sides = ConflictSides(conflict)
    let rest = sides.rows.count - Self.shownMembers
    let rows = sides.rows.prefix(Self.shownMembers).map { row -> HTML in
      let name: HTML = row.name == "" ? "the whole record" : "\(row.name.rawValue.shortened(to: 100))"
      return
        "<tr><th scope=\"row\">\(name)</th><td>\(cell(row.local))</td><td>\(cell(row.remote))</td></tr>\n"
    }
    let others = [
      rest > 0 ? "\(Counted(rest, "other member differs", "other members differ")). " : "" as HTML,
      sides.equal > 0 ? "\(Counted(sides.equal, "member is", "members are")) alike." : "",
    ]
    let deleted = [
      conflict.local.content == .deletion ? "<p>The record was deleted here.</p>\n" : "" as HTML,
      conflict.isDeletedThere ? "<p>The record was deleted at the remote.</p>\n" : "",
    ]
    return HTML.details(
      "<b>\(id)</b>: \(conflict.winner.sentence), \(conflict.settledAt.ago(at: model.writtenAt))",
      isOpen: isOpen,
      """
      <p>Because \(conflict.reason.shortened(to: 300)). Settled \(Self.time(conflict.settledAt)).</p>
      \(deleted)<table class="sides">
      <thead><tr><th scope="col">member</th>\
      <th scope="col">here, \(Self.time(conflict.local.stamp.physical))\(won(conflict, .local))</th>\
      <th scope="col">remote, \(Self.time(conflict.remoteStamp.physical))\(won(conflict, .remote))</th></tr></thead>
      <tbody>
      \(rows)</tbody>
      </table>
      <p>\(others)</p>

      """)
  }

  private func won(_ conflict: Conflict, _ side: Conflict.Winner) -> HTML {
    conflict.winner == side ? "<br><span class=\"good\">won</span>" : ""
  }

  private func cell(_ side: ConflictSides.Side) -> HTML {
    let mark: HTML = side.isChanged ? " <span class=\"warning\">changed</span>" : ""
    guard let value = side.value else { return "absent\(mark)" }
    return model.showsContents
      ? "<code>\(value.shortened(to: 300))</code>\(mark)" : (side.isChanged ? mark : "unchanged")
  }
}

extension Conflict {
  fileprivate var isDeletedThere: Bool {
    if case .tombstone = remote { true } else { false }
  }
}
