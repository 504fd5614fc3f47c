import SyncJSON
import SyncModels
import SyncSimulation

/// A sentence of a caption, and the event that it tells of.
struct Sentence: Hashable, Sendable {
  /// The text. Words between backticks are ids or contents.
  var text: String
  var step: Int?
}

extension Story {
  /// An event as a sentence, and what it meant for some records.
  func sentence(_ index: Int, about ids: [RecordID]) -> Sentence {
    Sentence(text: "At \(events[index].time.told) \(words(index, about: ids)).", step: index)
  }

  private func words(_ index: Int, about ids: [RecordID]) -> String {
    let event = events[index]
    switch event.facts {
    case .remote(let id, .copy(let payload)): return "the remote got this copy of `\(id)`: `\(payload.brief)`"
    case .remote(let id, .nothing): return "`\(id)` was deleted at the remote"
    case .remote(let id, .unreadable): return "`\(id)` became unreadable at the remote"
    case .wiped(let type): return "the remote was wiped of all `\(type)`"
    case .page:
      guard let name = name(ofPage: index) else {
        return "\(event.who) got the answer that its token is void"
      }
      let copies = ids.compactMap { got($0, at: index) }
      return "\(event.who) got \(name)" + (ids.isEmpty ? ", with \(contents(of: index))" : parts(copies))
    case .answers(let answers, let isPush):
      guard isPush else {
        return "\(event.who) looked records up" + parts(ids.compactMap { found($0, in: answers) })
      }
      return
        "\(event.who) pushed its edit of `\(answers.first?.id?.description ?? "a record")`: \(answers.first?.answer ?? "no answer")"
    case .commit(let commit):
      return "\(event.who) \(title(of: commit, at: index))"
        + parts(ids.compactMap { id in touch(of: id, at: index) }.map { $0.told })
    case .found(let touched):
      return "the store was not as the last transaction had left it"
        + parts(touched.filter { ids.contains($0.id) }.map(\.told))
    case .comparison, .broken, .none:
      return event.who == "world" ? event.words : "\(event.who) \(event.words)"
    }
  }

  private func parts(_ parts: [String]) -> String {
    parts.isEmpty ? "" : "; " + parts.joined(separator: "; ")
  }

  private func got(_ id: RecordID, at index: Int) -> String? {
    switch delivery(of: id, at: index) {
    case .copy(let payload): "it had `\(id)`: `\(payload.brief)`"
    case .nothing: "it had the deletion of `\(id)`"
    case .unreadable: "its bytes of `\(id)` are unreadable"
    case nil: nil
    }
  }

  private func found(_ id: RecordID, in answers: [WorldEvent.Delivery]) -> String? {
    answers.last { $0.id == id }.map { "for `\(id)` it got \($0.state?.told ?? "no answer")" }
  }

  /// What a transaction committed, without its records.
  func title(of commit: WorldEvent.Commit, at index: Int) -> String {
    let parts = commit.moves.map { move -> String in
      guard move.pages != nil else {
        return "moved the checkpoint of `\(move.type)` past the pages that it had got"
      }
      let names = pages(of: move, at: index).compactMap(name(ofPage:))
      let what = names.isEmpty ? "a page of `\(move.type)`" : names.joined(separator: " and ")
      if move.pages?.isEmpty == true, !move.isComplete { return "began to fetch `\(move.type)`" }
      return
        "committed \(what) and stored \(move.isComplete ? "the token for the next delta" : "the place after it")"
    }
    if !parts.isEmpty { return parts.joined(separator: ", ") }
    let words = events[index].words.prefix { $0 != "\n" }
    return words.hasPrefix("commits ") ? "committed \(words.dropFirst("commits ".count))" : String(words)
  }
}

extension WorldEvent.Touch {
  /// What became of the record, in past tense.
  var told: String {
    guard isChange else { return "`\(id)` stayed as it was: \(after.told)" }
    var parts: [String] = []
    if before.shown != after.shown {
      parts.append(
        after.shown.map { "the store then showed `\(id)`: `\($0.brief)`" }
          ?? "the store then showed no `\(id)`")
    }
    if before.withheld != after.withheld {
      parts.append(
        after.withheld.map { "it withheld `\(id)` (\($0.words))" } ?? "it withheld `\(id)` no more")
    }
    if before.edit != after.edit {
      parts.append(
        after.edit.map {
          $0.isEmpty
            ? "the deletion of `\(id)` waited to be pushed"
            : "an edit of `\(id)` waited to be pushed: `\($0.brief)`"
        } ?? "the edit of `\(id)` was gone from the outbox")
    }
    return parts.joined(separator: ", ")
  }
}

extension WorldEvent.Kept {
  /// What the store has, for a person.
  var told: String {
    var parts = [shown.map { "`\($0.brief)`" } ?? (withheld == nil ? "nothing" : "nothing that it shows")]
    if let withheld { parts.append("a change withheld as \(withheld.words)") }
    if let edit { parts.append(edit.isEmpty ? "with a deletion to push" : "with an edit to push") }
    return parts.joined(separator: ", ")
  }
}

extension WorldEvent.RemoteState {
  /// What the remote has, for a person.
  var told: String {
    switch self {
    case .copy(let payload): "`\(payload.brief)`"
    case .nothing: "nothing"
    case .unreadable: "unreadable bytes"
    }
  }
}

extension String {
  /// The members of a payload that tell one copy from another: `name 3, league l1`.
  ///
  /// The id, empty members and stamps are left out. A text that is no JSON object stays as it is.
  var brief: String {
    guard let map = try? FieldMap(Payload(Array(utf8))) else { return self }
    let members = map.fields.compactMap { field -> String? in
      guard field.rawValue != "id", field.rawValue != "canonicalSyncStamp", let value = map[field] else {
        return nil
      }
      let text = String(decoding: value, as: UTF8.self)
      return text == "null" ? nil : "\(field) \(text.filter { $0 != "\"" })"
    }
    let text = members.joined(separator: ", ")
    return text.isEmpty ? self : text.count > 120 ? "\(text.prefix(120))…" : text
  }
}
