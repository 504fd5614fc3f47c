import SyncCore
import SyncModels

// Whatever waits has to wait for something that can still happen. Edits and withheld changes that wait
// only for each other would wait for ever.
extension ConvergenceCheck {
  /// Something of a store that waits.
  private enum Waiter: Hashable {
    case edit(RecordID)
    case change(RecordID)

    var id: RecordID {
      switch self {
      case .edit(let id), .change(let id): id
      }
    }

    var words: String {
      switch self {
      case .edit(let id): "the edit of \(id)"
      case .change(let id): "the withheld change of \(id)"
      }
    }
  }

  /// The edits and withheld changes that wait in a circle.
  var knots: [Difference] {
    var waitsFor: [Waiter: Set<Waiter>] = [:]
    var free: Set<Waiter> = []
    for entry in view.outbox.values {
      let targets = isBlocked(entry) ? nil : targets(of: entry)
      if let targets { waitsFor[.edit(entry.id)] = targets } else { free.insert(.edit(entry.id)) }
    }
    for change in view.withheld.values {
      guard case .record(let id) = change.key else { continue }
      if let targets = targets(of: change, id) {
        waitsFor[.change(id)] = targets
      } else {
        free.insert(.change(id))
      }
    }
    var count: Int
    repeat {
      count = waitsFor.count
      for (waiter, targets) in waitsFor where targets.isEmpty || !targets.isDisjoint(with: free) {
        free.insert(waiter)
        waitsFor[waiter] = nil
      }
    } while waitsFor.count < count
    let knotted = waitsFor.keys.sorted { $0.words < $1.words }
    guard let first = knotted.first else { return [] }
    let others = (waitsFor[first] ?? []).map(\.words).sorted().joined(separator: " and ")
    return [
      Difference("\(first.words) waits in a circle, for \(others)", about: knotted.map(\.id))
    ]
  }

  /// What an edit waits for in the store.
  private func targets(of entry: OutboxEntry) -> Set<Waiter> {
    var targets = Set(references(of: entry).filter { view.outbox[$0] != nil }.map { Waiter.edit($0) })
    if view.withheld[.record(entry.id)] != nil { targets.insert(.change(entry.id)) }
    guard entry.edit.content == .deletion else { return targets }
    for id in view.outbox.keys where id != entry.id && keepsAReferrer(entry, [id]) {
      targets.insert(.edit(id))
    }
    guard entry.author != .app else { return targets }
    if let winner = view.winner(over: entry) {
      if view.outbox[winner] != nil { targets.insert(.edit(winner)) }
      if view.withheld[.record(winner)] != nil { targets.insert(.change(winner)) }
    }
    for change in view.withheld.values {
      guard case .upsert(let copy) = change.change, copy.id != entry.id,
        schema[copy.id.type]?.allReferences(of: copy).contains(entry.id) == true
      else { continue }
      targets.insert(.change(copy.id))
    }
    return targets
  }

  /// What a withheld change waits for in the store; `nil` if it waits for something else.
  private func targets(of change: WithheldChange, _ id: RecordID) -> Set<Waiter>? {
    switch change.kind {
    case .held:
      if !truth.carriesOutRules { return nil }
      let referrers = referrers(to: id)
      if referrers.contains(where: { $0.rule == .keepsTarget }) { return nil }
      return Set(referrers.flatMap { waiters(for: $0.id) })
    case .parked:
      guard case .upsert(let copy) = change.change else { return nil }
      var targets: Set<Waiter> = []
      for target in schema[id.type]?.requiredReferences(of: copy) ?? [] where view.live[target] == nil {
        let waiters = waiters(for: target)
        // The remote does not have it, or nobody can read it.
        if waiters.isEmpty { return nil }
        targets.formUnion(waiters)
      }
      return targets
    case .incompatible, .quarantined, .hidden, .missing, .staged: return nil
    }
  }

  private func waiters(for id: RecordID) -> [Waiter] {
    var waiters: [Waiter] = []
    if view.outbox[id] != nil { waiters.append(.edit(id)) }
    if view.withheld[.record(id)] != nil { waiters.append(.change(id)) }
    return waiters
  }
}
