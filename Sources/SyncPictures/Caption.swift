import SyncModels
import SyncSimulation

/// Why a promise broke: what came before, the step, what followed, and the promise.
///
/// It is made from the events of the world alone.
struct Caption: Hashable, Sendable {
  /// What led to the step, in order.
  var before: [Sentence] = []
  /// The step at which the world went wrong.
  var step: [Sentence] = []
  /// What it was in the end.
  var after: [Sentence] = []
  /// The broken promise; `nil` if none broke.
  var violation: Violation?

  /// All sentences, in order.
  var sentences: [Sentence] { before + step + after }

  /// The events that the sentences tell of, in order.
  var steps: [Int] { sentences.compactMap(\.step) }

  /// The whole as a text.
  var text: String {
    let broken = violation.map { ["Broken: “\($0.promise.sentence)” (\($0.promise.rawValue))"] } ?? []
    return (sentences.map(\.text) + broken).joined(separator: " ")
  }
}

extension Story {
  /// Explains the first broken promise.
  func caption(of violations: [Violation]) -> Caption {
    guard let violation = violations.first else {
      var caption = Caption()
      caption.after = [
        Sentence(
          text: end == nil
            ? "No promise was broken." : "No promise was broken: the store became equal to the remote.",
          step: events.indices.last { if case .comparison = events[$0].facts { true } else { false } })
      ]
      return caption
    }
    let broken = events.firstIndex { event in
      if case .broken(let other) = event.facts { other == violation } else { false }
    }
    guard let broken else {
      return Caption(step: [Sentence(text: violation.found)], violation: violation)
    }
    var caption =
      if let id = violation.records.first, violation.promise == .convergence {
        divergence(of: id, violation)
      } else {
        incident(violation, at: broken)
      }
    caption.violation = violation
    caption.before = faults(before: caption, violation) + caption.before
    caption.before.sort { ($0.step ?? 0) < ($1.step ?? 0) }
    return caption
  }

  /// The last faults before the step that a caption names.
  private func faults(before caption: Caption, _ violation: Violation) -> [Sentence] {
    guard let step = caption.step.compactMap(\.step).first ?? caption.before.compactMap(\.step).last else {
      return []
    }
    let told = Set(caption.steps)
    let process = events[step].who.process
    let faults = events.indices.filter { index in
      index < step && !told.contains(index) && events[index].isDisturbance
        && (process == nil || events[index].who.process == nil || events[index].who.process == process)
    }
    return faults.suffix(2).map { sentence($0, about: []) }
  }

  /// What store and remote had of some records in the end.
  ///
  /// - Parameter broken: The event that reported a promise; a comparison before it tells nothing.
  func ending(_ ids: [RecordID], after broken: Int = 0) -> [Sentence] {
    let last = events.indices.last { events[$0].isEnd }
    let isCompared = last.map { $0 > broken || broken == 0 } ?? false
    let parts = ids.compactMap { id -> String? in
      let here = isCompared ? end?.here[id] : kept(id, before: events.count)
      guard let there = isCompared ? end?.there[id] ?? .nothing : lastState(of: id) else { return nil }
      if case .copy(let payload) = there, let shown = here?.shown, shown != payload,
        shown.brief == payload.brief
      {
        return "of `\(id)` the store has `\(shown)`, and the remote has `\(payload)`"
      }
      if here?.edit == nil, here?.withheld == nil, there.isShown(by: here) {
        return "store and remote both have \(there.told) of `\(id)`"
      }
      return "of `\(id)` the store has \(here?.told ?? "nothing"), and the remote has \(there.told)"
    }
    guard !parts.isEmpty else { return [] }
    let syncs =
      end.map { $0.round == 1 ? ", after a sync without faults" : ", after \($0.round) syncs without faults" }
      ?? ""
    return [
      Sentence(
        text: "In the end\(isCompared ? syncs : ""), \(parts.joined(separator: "; ")).",
        step: isCompared ? last : nil)
    ]
  }

  /// The last state of a record at the remote, as far as events tell it.
  private func lastState(of id: RecordID) -> WorldEvent.RemoteState? {
    guard let last = remoteChanges(of: id).last else { return nil }
    switch events[last].facts {
    case .remote(_, let state): return state
    case .wiped: return .nothing
    default: return delivery(of: id, at: last)
    }
  }
}

extension WorldEvent {
  /// Whether store and remote were compared.
  var isEnd: Bool { if case .comparison = facts { true } else { false } }

  /// Whether the event makes a sync harder.
  var isDisturbance: Bool {
    switch kind {
    case .fault, .crash, .stop, .clock: true
    case .world: who != "world"
    case .write: if case .wiped = facts { true } else { false }
    default: false
    }
  }
}

extension Violation {
  /// The observation as a sentence.
  var found: String { "The check found: \(words.hasSuffix(".") ? words : words + ".")" }
}

extension String {
  /// The number of the process in `app 2.1`; `nil` for other actors.
  var process: Int? {
    hasPrefix("app ") ? Int(dropFirst("app ".count).prefix { $0 != "." }) : nil
  }
}
