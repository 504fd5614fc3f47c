import SyncModels
import SyncSimulation

extension Story {
  /// Explains a promise that broke while the world was running.
  func incident(_ violation: Violation, at broken: Int) -> Caption {
    let ids = Array(violation.records.prefix(2))
    let step = step(of: violation, before: broken)
    var caption = Caption()
    caption.before = moments(of: ids, violation, before: step ?? broken).map { sentence($0, about: ids) }
    if let step { caption.step = [sentence(step, about: ids)] }
    caption.step.append(contentsOf: reasons(violation, step, at: broken))
    caption.after = ending(ids, after: broken)
    return caption
  }

  /// The event in which the promise broke: the process was committing or pushing.
  private func step(of violation: Violation, before broken: Int) -> Int? {
    switch violation.promise {
    case .oneEffect, .atomicGroup:
      return isEnded(by: broken)
        ? violation.records.first.flatMap { pushes(of: $0, in: 0..<broken).last } : nil
    case .bounds, .cancellation, .liveness, .honestErrors, .balance, .containment, .throttle, .coverage,
      .determinism, .observation:
      return nil
    default: break
    }
    let time = events[broken].time
    return events[..<broken].indices.reversed().prefix { events[$0].time == time }.first { index in
      let isActor = violation.words.hasPrefix("\(events[index].who) ") || violation.promise == .references
      switch events[index].facts {
      case .commit: return isActor || violation.promise == .arithmetic
      case .answers(_, isPush: true): return isActor
      case .found: return true
      default: return false
      }
    }
  }

  /// Whether store and remote had been compared before an event.
  private func isEnded(by index: Int) -> Bool { events[..<index].contains(where: \.isEnd) }

  /// The last events that made the records what they were.
  private func moments(of ids: [RecordID], _ violation: Violation, before step: Int) -> [Int] {
    var found: Set<Int> = []
    for id in ids {
      if let last = remoteChanges(of: id, before: step).last { found.insert(last) }
      if let last = (0..<step).last(where: { delivery(of: id, at: $0) != nil }) { found.insert(last) }
      found.formUnion(changes(of: id, in: 0..<step).suffix(2))
      found.formUnion(pushes(of: id, in: 0..<step).suffix(2))
    }
    if violation.promise == .oneCommitter {
      let leases = events[..<step].indices.filter { events[$0].kind == .lease }
      found.formUnion(leases.suffix(2))
      if let own = leases.last(where: { violation.words.hasPrefix("\(events[$0].who) ") }) {
        found.insert(own)
      }
    }
    if let type = violation.type, violation.promise != .atomicPage {
      let commits = events[..<step].indices.filter { index in
        commit(at: index)?.moves.contains { $0.type == type } == true
      }
      let pages = events[..<step].indices.filter { page(at: $0)?.type == type }
      found.formUnion(commits.suffix(1) + pages.suffix(2))
    }
    if ids.isEmpty, violation.type == nil, violation.promise != .oneCommitter {
      let own = events[..<step].indices.filter { violation.words.contains("\(events[$0].who) ") }
      found.formUnion(own.filter { commit(at: $0)?.touched.isEmpty == false }.suffix(2))
      found.formUnion(own.filter { page(at: $0)?.changes.isEmpty == false }.suffix(2))
    }
    return Array(found.sorted().suffix(5))
  }

  /// Why that step breaks the promise.
  private func reasons(_ violation: Violation, _ step: Int?, at broken: Int) -> [Sentence] {
    let text: String? =
      switch (violation.promise, violation.records.first) {
      case (.atomicPage, nil): step.flatMap { overreach(at: $0) }
      case (.atomicPage, let id?): step.flatMap { stray(id, at: $0) }
      case (.nothingSilent, let id?): step.flatMap { omission(of: id, at: $0) }
      case (.noLostEdit, let id?): loss(of: id, before: broken)
      case (.references, _): dangling(violation.records, at: step ?? broken)
      case (.oneEffect, let id?) where isEnded(by: broken): repetition(of: id, before: broken)
      default: nil
      }
    let reason = text.map { [Sentence(text: $0, step: step)] } ?? []
    return reason + [Sentence(text: violation.found, step: broken)]
  }

  /// A checkpoint that covers more than the process got.
  private func overreach(at step: Int) -> String? {
    guard let move = commit(at: step)?.moves.first(where: { $0.pages == nil }) else { return nil }
    let got = pages(of: move.type, gotBy: events[step].who, before: step)
    if got.isEmpty { return "Before that it had got no page of `\(move.type)`." }
    let names = got.map { index in
      "\(name(ofPage: index) ?? "a page") had \(contents(of: index))"
        + (page(at: index)?.isLast == true ? " and was the last" : ", and more were to follow")
    }
    return
      "In this pass it had got \(got.count == 1 ? "one page" : "\(got.count) pages"): \(names.joined(separator: "; ")). "
      + "The checkpoint that it stored says that \(move.isComplete ? "the pass was complete" : "more had come"): what is missing would never be asked for again."
  }

  /// Content of a record that no covered page brought.
  private func stray(_ id: RecordID, at step: Int) -> String? {
    guard let touch = touch(of: id, at: step) else { return nil }
    if case .found = events[step].facts {
      return
        "No transaction made that change: the last one had left `\(id)` as \(touch.before.told), and then the store had \(touch.after.told)."
    }
    if events[step].words.hasPrefix("commits an edit"), touch.after.edit == nil {
      return
        "The transaction of an edit has to leave the edit in the outbox. It left none of `\(id)`, so what the store shows would never be pushed."
    }
    guard commit(at: step)?.moves.isEmpty == true,
      let page = (0..<step).last(where: { delivery(of: id, at: $0) != nil }).flatMap(name(ofPage:))
    else { return nil }
    return
      "The transaction has the rows of \(page), and not the checkpoint after that page: the two are apart, and a process that ends between them leaves one without the other."
  }

  private func omission(of id: RecordID, at step: Int) -> String? {
    guard let touch = touch(of: id, at: step) else { return nil }
    let last = (0..<step).last { delivery(of: id, at: $0) != nil }
    if let last, delivery(of: id, at: last) == .nothing {
      return touch.after.shown == nil
        ? "The page had the deletion of `\(id)`, and the store kept no note of it: an older copy could be shown again."
        : "The page had the deletion of `\(id)`, and the store goes on showing \(touch.after.told)."
    }
    return
      "The page had a change of `\(id)` that the transaction left out: the store has \(touch.after.told), and does not list the change as withheld."
  }

  func loss(of id: RecordID, before broken: Int) -> String {
    guard let last = pushes(of: id, in: 0..<broken).last else {
      return "That edit was never pushed, and the log of conflicts has nothing of it."
    }
    return
      "The last answer to a push of `\(id)` was “\(answer(to: id, at: last) ?? "none")”, and neither the remote nor the log of conflicts has that edit."
  }

  private func dangling(_ ids: [RecordID], at step: Int) -> String? {
    guard ids.count > 1 else { return nil }
    let kept = kept(ids[1], before: step + 1)
    return
      "Of `\(ids[1])`, to which `\(ids[0])` refers, the store has \(kept?.shown == nil ? kept?.told ?? "nothing" : "a copy that it does not show") at that time."
  }

  private func repetition(of id: RecordID, before broken: Int) -> String {
    let taken = pushes(of: id, in: 0..<broken).filter { answer(to: id, at: $0) == "taken" }
    return
      "The remote applied one edit of `\(id)` twice, the second time on top of the first; the app was answered \(taken.count == 1 ? "once" : "\(taken.count) times") that it was taken."
  }
}
