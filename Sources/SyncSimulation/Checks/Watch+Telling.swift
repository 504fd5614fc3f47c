import SyncCore
import SyncModels
import SyncPorts

extension Watch {
  /// Tells a transaction's effect, if the world keeps its events.
  func tell(
    _ before: StoreView, _ after: StoreView, _ touched: Touched, _ moves: [Move],
    under authority: WriteAuthority, by incarnation: Incarnation
  ) {
    guard incarnation.world.trace.keepsEvents else { return }
    let fetched = moves.flatMap { $0.pages ?? [] }.flatMap(\.changes).compactMap(\.id)
    let ids = touched.ids.union(fetched).sorted()
    let touches = ids.map { WorldEvent.Touch($0, from: before, to: after) }
    var lines = touches.flatMap(\.words)
    let known = before.conflicts.first?.number ?? 0
    for conflict in after.conflicts.reversed() where conflict.number > known {
      lines.append("logs a conflict of \(conflict.id)")
    }
    let isByApp = if case .app = authority { true } else { false }
    guard !moves.isEmpty || !lines.isEmpty else { return }
    let title =
      moves.isEmpty
      ? "commits \(isByApp ? "an edit" : "changes")" : moves.map(\.words).joined(separator: ", and ")
    incarnation.trace(
      as: .commit, ([title] + lines).joined(separator: "\n"),
      facts: .commit(WorldEvent.Commit(touched: touches, moves: moves.map(WorldEvent.Move.init))))
  }
}

extension Watch.Move {
  /// The move for a person.
  fileprivate var words: String {
    guard let pages else { return "moves the checkpoint of \(type) past what it got" }
    guard checkpoint.inFlight == nil else {
      return pages.isEmpty
        ? "begins a pass of \(type)"
        : "commits \(Counted(pages.count, "page")) of \(type), with the place for the next"
    }
    return
      "commits \(pages.count == 1 ? "the last page" : "the last \(Counted(pages.count, "page"))") of \(type), with the token for the next delta"
  }
}

extension WorldEvent.Move {
  fileprivate init(_ move: Watch.Move) {
    type = move.type
    pages = move.pages.map { $0.map { $0.changes.map(\.id) } }
    isComplete = move.checkpoint.inFlight == nil
  }
}

extension WorldEvent.Touch {
  /// What two states of a store have of a record.
  init(_ id: RecordID, from before: StoreView, to after: StoreView) {
    self.init(id: id, before: WorldEvent.Kept(id, in: before), after: WorldEvent.Kept(id, in: after))
  }

  /// Whether the record is not as before.
  package var isChange: Bool { before != after }

  /// What changed, for a person.
  var words: [String] {
    var lines: [String] = []
    if before.shown != after.shown {
      lines.append(after.shown.map { "shows \(id): \($0)" } ?? "does not show \(id) any more")
    }
    if before.withheld != after.withheld {
      lines.append(after.withheld.map { "withholds \(id): \($0.words)" } ?? "withholds \(id) no more")
    }
    if before.edit != after.edit {
      lines.append(
        after.edit.map {
          $0.isEmpty ? "has the deletion of \(id) to push" : "has an edit of \(id) to push: \($0)"
        }
          ?? "has no edit of \(id) to push any more")
    }
    return lines
  }
}

extension WorldEvent.Kept.Withheld {
  /// The reason for a person.
  package var words: String {
    guard !waitsFor.isEmpty else { return kind.rawValue }
    let names = waitsFor.map(\.description).joined(separator: " and ")
    return "\(kind.rawValue), until \(names) \(waitsFor.count == 1 ? "is" : "are") there"
  }
}

extension Touched {
  /// Every record that may have changed.
  var ids: Set<RecordID> {
    var ids = records.union(outbox)
    for case .record(let id) in withheld { ids.insert(id) }
    return ids
  }
}
