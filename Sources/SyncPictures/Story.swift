import SyncModels
import SyncSimulation

/// A world's events, with answers to the questions that a caption asks about one record.
struct Story: Sendable {
  let events: [WorldEvent]
  /// The number of each page within its pass, by the page's event.
  private let numbers: [Int: Int]
  /// The last state of store and remote.
  let end: WorldEvent.Comparison?

  init(_ events: [WorldEvent]) {
    self.events = events
    var numbers: [Int: Int] = [:]
    var counts: [String: Int] = [:]
    var end: WorldEvent.Comparison?
    for (index, event) in events.enumerated() {
      switch event.facts {
      case .page(let page) where !page.isReset:
        let pass = "\(page.type)/\(page.pass)"
        let number = page.isFirst ? 1 : counts[pass, default: 0] + 1
        counts[pass] = number
        numbers[index] = number
      case .comparison(let comparison): end = comparison
      default: break
      }
    }
    (self.numbers, self.end) = (numbers, end)
  }

  // MARK: Pages

  func page(at index: Int) -> WorldEvent.ServedPage? {
    if case .page(let page) = events[index].facts { page } else { nil }
  }

  func commit(at index: Int) -> WorldEvent.Commit? {
    if case .commit(let commit) = events[index].facts { commit } else { nil }
  }

  /// The page's name, as in ``page 2 of `games` ``.
  func name(ofPage index: Int) -> String? {
    guard let page = page(at: index), let number = numbers[index] else { return nil }
    return "page \(number) of `\(page.type)`"
  }

  /// The events of the pages that a checkpoint covers, as far as they are known.
  func pages(of move: WorldEvent.Move, at commit: Int) -> [Int] {
    var found: [Int] = []
    for ids in (move.pages ?? []).reversed() {
      let last = (0..<(found.first ?? commit)).last { index in
        guard events[index].who == events[commit].who, let page = page(at: index), !page.isReset else {
          return false
        }
        return page.type == move.type && page.changes.map(\.id) == ids
      }
      if let last { found.insert(last, at: 0) }
    }
    return found
  }

  /// The pages of a process in its current pass of a type.
  func pages(of type: RecordType, gotBy who: String, before index: Int) -> [Int] {
    let all = (0..<index).filter { events[$0].who == who && page(at: $0)?.type == type && numbers[$0] != nil }
    guard let pass = all.last.flatMap({ page(at: $0)?.pass }) else { return [] }
    return all.filter { page(at: $0)?.pass == pass }
  }

  // MARK: One record

  /// The remote's changes of a record, in order. A push that was taken is one of them.
  func remoteChanges(of id: RecordID, before end: Int? = nil) -> [Int] {
    events.indices.filter { index in
      guard index < end ?? events.count else { return false }
      switch events[index].facts {
      case .remote(id, _): return true
      case .wiped(let type): return type == id.type
      case .answers(let answers, isPush: true):
        return answers.contains { $0.id == id && $0.answer == "taken" }
      default: return false
      }
    }
  }

  /// The state of a record that an event brought; `nil` for none.
  func delivery(of id: RecordID, at index: Int) -> WorldEvent.RemoteState? {
    switch events[index].facts {
    case .page(let page): page.changes.last { $0.id == id }?.state
    case .answers(let answers, _): answers.last { $0.id == id }?.state
    default: nil
    }
  }

  /// What a transaction did to a record; `nil` for nothing.
  func touch(of id: RecordID, at index: Int) -> WorldEvent.Touch? {
    switch events[index].facts {
    case .commit(let commit): commit.touched.first { $0.id == id }
    case .found(let touched): touched.first { $0.id == id }
    default: nil
    }
  }

  /// The transactions that changed a record in a range of events.
  func changes(of id: RecordID, in range: Range<Int>) -> [Int] {
    range.filter { touch(of: id, at: $0)?.isChange == true && commit(at: $0) != nil }
  }

  /// The pushes of a record's edits.
  func pushes(of id: RecordID, in range: Range<Int>) -> [Int] {
    range.filter { index in
      if case .answers(let answers, isPush: true) = events[index].facts {
        answers.contains { $0.id == id }
      } else {
        false
      }
    }
  }

  /// The remote's answer to a push of a record, in words.
  func answer(to id: RecordID, at index: Int) -> String? {
    guard case .answers(let answers, isPush: true) = events[index].facts else { return nil }
    return answers.first { $0.id == id }?.answer
  }

  /// The last state of a record in the store before an event.
  func kept(_ id: RecordID, before index: Int) -> WorldEvent.Kept? {
    (0..<index).last { touch(of: id, at: $0) != nil }.flatMap { touch(of: id, at: $0)?.after }
  }
}

extension WorldEvent.RemoteState {
  /// Whether a store shows a record in this state.
  func isShown(by kept: WorldEvent.Kept?) -> Bool {
    switch self {
    case .copy(let payload): kept?.shown == payload
    case .nothing: kept?.shown == nil
    case .unreadable: kept?.withheld?.kind == .quarantined
    }
  }
}

extension Duration {
  /// The time for a person: `12.4 s`, `48 h 0 min 12 s`.
  var told: String {
    let (seconds, attoseconds) = components
    if seconds < 3600 {
      let milliseconds = attoseconds / 1_000_000_000_000_000
      return "\(seconds).\(milliseconds < 100 ? "0" : "")\(milliseconds < 10 ? "0" : "")\(milliseconds) s"
    }
    return "\(seconds / 3600) h \(seconds / 60 % 60) min \(seconds % 60) s"
  }
}
