import SyncModels
import SyncSimulation

extension Story {
  /// Explains why store and remote differ in a record at the end.
  func divergence(of id: RecordID, _ violation: Violation) -> Caption {
    let (here, there) = (end?.here[id], end?.there[id] ?? .nothing)
    var caption = Caption(after: ending(Array(violation.records.prefix(3))))
    let found = Sentence(text: violation.found)
    let change = remoteChanges(of: id).last ?? 0
    let isOutdated = changes(of: id, in: 0..<events.count).last.map { $0 < change } ?? false
    if let withheld = here?.withheld, !isOutdated {
      needlesslyWithheld(id, withheld, &caption)
    } else if here?.edit != nil {
      unsent(id, &caption)
    } else if there.isShown(by: here), here?.withheld == nil {
      together(violation.records, &caption)
    } else {
      missed(id, there, &caption)
    }
    if caption.after.isEmpty || caption.step.isEmpty || violation.records.count > 1 {
      caption.after.insert(found, at: 0)
    }
    return caption
  }

  // MARK: A change that the store lacks

  private func missed(_ id: RecordID, _ there: WorldEvent.RemoteState, _ caption: inout Caption) {
    let change = remoteChanges(of: id).last
    if let change { caption.before.append(sentence(change, about: [id])) }
    if let change, let told = delivery(of: id, at: change), told != there {
      caption.before = []
      caption.step = [
        sentence(change, about: [id]),
        Sentence(
          text: "The remote's answer was that it took the edit, and the remote does not have it.",
          step: change),
      ]
      let later = changes(of: id, in: change..<events.count).first {
        touch(of: id, at: $0)?.after.edit == nil
      }
      if let later { caption.step.append(sentence(later, about: [id])) }
      return
    }
    let rest = (change ?? 0)..<events.count
    let delivered = rest.first { delivery(of: id, at: $0) == there }
    guard let delivered else { return undelivered(id, there, after: change ?? 0, &caption) }
    if delivered != change { caption.before.append(sentence(delivered, about: [id])) }
    let touches = (delivered..<events.count).filter { concerns(id, at: $0) }
    let wrong = touches.firstIndex { !isRight(touch(of: id, at: $0)?.after, there) }
    if let wrong {
      if wrong > 0 { caption.before.append(sentence(touches[wrong - 1], about: [id])) }
      caption.step = [sentence(touches[wrong], about: [id])]
      let text = wrong == 0 ? reproach(of: id, there) : removal(of: id, at: touches[wrong])
      if let text { caption.step.append(Sentence(text: text, step: touches[wrong])) }
      if let touch = touch(of: id, at: touches[wrong]), touch.before.edit != nil, touch.after.edit == nil {
        caption.step.append(Sentence(text: loss(of: id, before: touches[wrong]), step: touches[wrong]))
      }
    } else if let last = touches.last {
      caption.step = [sentence(last, about: [id])]
      if let touch = touch(of: id, at: last), !touch.isChange, touch.after.withheld != nil {
        caption.step.append(
          Sentence(
            text:
              "That transaction had the newest state of `\(id)`, and left an older change withheld in its place.",
            step: last))
      }
    } else {
      caption.step = [
        Sentence(
          text:
            "No transaction after that wrote it: \(events[delivered].who) got it, and never committed it.",
          step: delivered)
      ]
      let later = (delivered..<events.count).first { index in
        commit(at: index)?.moves.contains { $0.type == id.type && $0.isComplete } == true
      }
      if let later { caption.step.append(sentence(later, about: [id])) }
    }
  }

  /// Whether a transaction changed a record, or had to.
  private func concerns(_ id: RecordID, at index: Int) -> Bool {
    guard let commit = commit(at: index) else { return false }
    return touch(of: id, at: index)?.isChange == true
      || commit.moves.contains { ($0.pages ?? []).contains { $0.contains(id) } }
  }

  /// Why a transaction should not have removed a record.
  private func removal(of id: RecordID, at index: Int) -> String? {
    guard touch(of: id, at: index)?.after.shown == nil, commit(at: index)?.moves.isEmpty == true,
      let last = (0..<index).last(where: { delivery(of: id, at: $0) != nil }), let name = name(ofPage: last)
    else { return nil }
    return
      "No page had a deletion of `\(id)`: the transaction is a sweep, which removes what a complete listing lacked. But \(name) of the listing had it."
  }

  /// Whether a store took a remote state, or keeps it for later with a reason.
  private func isRight(_ kept: WorldEvent.Kept?, _ there: WorldEvent.RemoteState) -> Bool {
    there.isShown(by: kept) || kept?.withheld != nil || kept?.edit != nil
  }

  private func reproach(of id: RecordID, _ there: WorldEvent.RemoteState) -> String {
    switch there {
    case .copy:
      "That transaction had the newest copy of `\(id)`, and neither showed it nor listed it as withheld."
    case .nothing:
      "That transaction had the deletion of `\(id)`, and neither removed the record nor listed it as held."
    case .unreadable: "That transaction had the bytes of `\(id)`, and did not quarantine them."
    }
  }

  /// No page had the change, so a token or a listing is wrong.
  private func undelivered(
    _ id: RecordID, _ there: WorldEvent.RemoteState, after change: Int, _ caption: inout Caption
  ) {
    let passes = events.indices.filter { index in
      commit(at: index)?.moves.contains { $0.type == id.type && $0.isComplete } == true
    }
    let laterPages = (change..<events.count).filter {
      page(at: $0)?.type == id.type && name(ofPage: $0) != nil
    }
    if there == .nothing, let listed = listing(without: id, among: laterPages, passes) {
      caption.step = [
        sentence(listed, about: [id]),
        Sentence(
          text:
            "That listing was complete and had no `\(id)`, so the record is gone at the remote; the store kept it.",
          step: listed),
      ]
      return
    }
    guard let asked = laterPages.first(where: { page(at: $0)?.isFirst == true }) else {
      caption.step = [
        Sentence(
          text: "After that, no page of `\(id.type)` was asked for from its start.",
          step: laterPages.last ?? change)
      ]
      return
    }
    if let token = passes.last(where: { $0 < asked }) {
      if token < change {
        caption.before.append(sentence(token, about: []))
      } else {
        caption.step = [sentence(token, about: [])]
        let got =
          commit(at: token)?.moves.filter { $0.type == id.type }.flatMap { pages(of: $0, at: token) } ?? []
        let names = got.map { "\(name(ofPage: $0) ?? "a page") had \(contents(of: $0))" }
        caption.step.append(
          Sentence(
            text:
              "That token lies behind the change, which no page had\(names.isEmpty ? "" : ": \(names.joined(separator: ", "))"). No later delta has it.",
            step: token))
        return
      }
    }
    let later = laterPages.count
    let what = laterPages.contains { delivery(of: id, at: $0) != nil } ? "that state of `\(id)`" : "`\(id)`"
    let misled = (change + 1..<events.count).first { delivery(of: id, at: $0) != nil && page(at: $0) == nil }
    if let misled { caption.step.append(sentence(misled, about: [id])) }
    caption.step.append(sentence(asked, about: [id]))
    caption.step.append(
      Sentence(
        text:
          "It had \(contents(of: asked)), and \(later == 1 ? "it was the only page of `\(id.type)` after the change" : "none of the \(later) pages of `\(id.type)` after the change had \(what)").",
        step: asked))
    if let token = passes.first(where: { $0 > asked }) {
      caption.step.append(sentence(token, about: []))
      caption.step.append(
        Sentence(
          text: "From that token on, the change of `\(id)` counted as fetched, and no later page had it.",
          step: token))
    }
    caption.step.sort { ($0.step ?? 0, $0.text.count) < ($1.step ?? 0, $1.text.count) }
  }

  private func listing(without id: RecordID, among pages: [Int], _ passes: [Int]) -> Int? {
    guard
      let first = pages.first(where: { page(at: $0)?.isFirst == true && page(at: $0)?.isListing == true }),
      let pass = page(at: first)?.pass
    else { return nil }
    let all = pages.filter { page(at: $0)?.pass == pass }
    guard all.contains(where: { page(at: $0)?.isLast == true }),
      !all.contains(where: {
        page(at: $0)?.changes.contains { $0.id == id } == true || page(at: $0)?.present.contains(id) == true
      })
    else { return nil }
    return passes.first { $0 > first }
  }

  /// The records of a page, in words.
  func contents(of index: Int) -> String {
    guard let page = page(at: index) else { return "nothing" }
    let ids = page.changes.compactMap(\.id) + page.present
    if ids.isEmpty { return page.changes.isEmpty ? "no record" : "only unreadable bytes" }
    return ids.map { "`\($0)`" }.joined(separator: ", ")
  }

  // MARK: What else can differ

  private func needlesslyWithheld(
    _ id: RecordID, _ withheld: WorldEvent.Kept.Withheld, _ caption: inout Caption
  ) {
    let changes = changes(of: id, in: events.indices)
    guard
      let since = changes.last(where: { touch(of: id, at: $0)?.before.withheld != withheld }) ?? changes.last
    else { return }
    if let change = remoteChanges(of: id).last { caption.before.append(sentence(change, about: [id])) }
    let appearance = withheld.waitsFor.compactMap { target in
      self.changes(of: target, in: events.indices).last {
        touch(of: target, at: $0)?.before.shown == nil && touch(of: target, at: $0)?.after.shown != nil
      }
    }.max()
    if let appearance, appearance > since {
      caption.before.append(sentence(since, about: [id]))
      caption.step = [
        sentence(appearance, about: withheld.waitsFor + [id]),
        Sentence(
          text:
            "What `\(id)` waited for was there from then on, and `\(id)` stayed \(withheld.kind.rawValue).",
          step: appearance),
      ]
      return
    }
    caption.step = [sentence(since, about: [id] + withheld.waitsFor)]
    let others = withheld.waitsFor.filter { end?.here[$0]?.withheld != nil }
    if others.contains(where: { end?.here[$0]?.withheld?.waitsFor.contains(id) == true }) {
      caption.step.append(
        Sentence(
          text:
            "`\(id)` and \(others.map { "`\($0)`" }.joined(separator: ", ")) waited for each other, and were never shown together.",
          step: since))
    } else if withheld.kind == .held {
      caption.step.append(contentsOf: released(id, after: since))
    } else {
      caption.step.append(
        Sentence(
          text: "It stayed \(withheld.kind.rawValue) to the end, without a reason that holds.", step: since))
    }
  }

  /// When the last record went that referred to one with a held deletion.
  private func released(_ id: RecordID, after since: Int) -> [Sentence] {
    let mention = "\"\(id.key)\""
    let last = (since..<events.count).last { index in
      commit(at: index)?.touched.contains { touch in
        touch.id != id && touch.before.shown?.contains(mention) == true
          && touch.after.shown?.contains(mention) != true
      } == true
    }
    guard let last,
      let other = commit(at: last)?.touched.first(where: {
        $0.before.shown?.contains(mention) == true && $0.id != id
      })
    else {
      return [
        Sentence(text: "No visible record needed `\(id)`, and its deletion was held to the end.", step: since)
      ]
    }
    return [
      sentence(last, about: [other.id]),
      Sentence(text: "Nothing referred to `\(id)` any more, and its deletion was still held.", step: last),
    ]
  }

  /// An edit that stays in the outbox.
  private func unsent(_ id: RecordID, _ caption: inout Caption) {
    let changes = changes(of: id, in: events.indices)
    let edited = changes.last { touch(of: id, at: $0)?.before.edit != touch(of: id, at: $0)?.after.edit }
    if let edited { caption.step = [sentence(edited, about: [id])] }
    let pushes = pushes(of: id, in: 0..<events.count)
    guard let first = pushes.first(where: { answer(to: id, at: $0) == "taken" }) ?? pushes.last else {
      caption.step.append(Sentence(text: "No push had that edit, to the end.", step: edited))
      return
    }
    caption.step.append(sentence(first, about: [id]))
    let times = pushes.count == 1 ? "once" : "\(pushes.count) times"
    caption.step.append(
      Sentence(
        text: answer(to: id, at: first) == "taken"
          ? "That answer ends the edit; it stayed in the outbox, and was pushed \(times) in all."
          : "It was pushed \(times), and stayed in the outbox.", step: first))
  }

  /// Records that are right one by one, and wrong together.
  private func together(_ ids: [RecordID], _ caption: inout Caption) {
    let last = ids.prefix(3).compactMap { id in changes(of: id, in: events.indices).last.map { (id, $0) } }
      .sorted { $0.1 < $1.1 }
    caption.before = last.dropLast().map { sentence($0.1, about: [$0.0]) }
    caption.step = last.suffix(1).map { sentence($0.1, about: [$0.0]) }
    if let rebuilt = events.indices.last(where: { events[$0].words.hasPrefix("rebuilds: ") }) {
      caption.step.append(sentence(rebuilt, about: []))
    }
  }
}
