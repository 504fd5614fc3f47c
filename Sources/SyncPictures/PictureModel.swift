import SyncModels
import SyncSimulation

/// What a picture of a world shows: lanes, steps, and what broke.
struct PictureModel: Sendable {
  let caption: Caption
  /// The broken promises after the first one.
  let others: [Violation]
  let hazards: [String]
  let recording: Recording
  /// The parts of the world that act, from top to bottom.
  let lanes: [String]
  let steps: [Step]

  /// One event, with its place in the picture.
  struct Step: Sendable {
    /// The number that the page shows, counted from 1.
    let number: Int
    let event: WorldEvent
    let lane: Int
    /// The lane from which something came, or to which it went.
    let otherLane: Int?
    /// What the caption says of the step.
    let sentences: [String]
    /// Whether nothing came of it, so that it may be shown with others like it.
    let isQuiet: Bool

    var isCited: Bool { !sentences.isEmpty }
  }

  init(_ outcome: Outcome) {
    let story = Story(outcome.events)
    caption = story.caption(of: outcome.violations)
    others = Array(outcome.violations.dropFirst())
    hazards = outcome.hazards.map(\.rawValue).sorted()
    recording = outcome.recording
    let lanes = Self.lanes(of: story.events)
    self.lanes = lanes
    let cited = Dictionary(grouping: caption.sentences.filter { $0.step != nil }) { $0.step ?? 0 }
    steps = story.events.enumerated().map { index, event in
      let own = lanes.firstIndex(of: Self.lane(of: event.who)) ?? 0
      let other = Self.otherLane(of: event, lanes)
      // A commit is the store's, and a push the remote's.
      let isGiven = other != nil && (event.kind == .commit || event.kind == .push)
      return Step(
        number: index + 1, event: event, lane: isGiven ? other ?? own : own, otherLane: isGiven ? own : other,
        sentences: (cited[index] ?? []).map(\.text), isQuiet: event.isQuiet)
    }
  }

  private static func lanes(of events: [WorldEvent]) -> [String] {
    let used = Set(events.map { lane(of: $0.who) })
    let apps = used.filter { $0.process != nil }.sorted { ($0.process ?? 0) < ($1.process ?? 0) }
    return (used.contains("world") ? ["world"] : []) + ["remote"] + apps + ["store"]
  }

  private static func lane(of who: String) -> String {
    if let process = who.process { return "app \(process)" }
    return switch who {
    case "remote", "network": "remote"
    case "store": "store"
    default: "world"
    }
  }

  private static func otherLane(of event: WorldEvent, _ lanes: [String]) -> Int? {
    switch event.kind {
    case .page, .push: lanes.firstIndex(of: "remote")
    case .commit: lanes.firstIndex(of: "store")
    default: nil
    }
  }
}

extension WorldEvent {
  /// Whether the event brought nothing, as most of a world that goes well.
  fileprivate var isQuiet: Bool {
    switch facts {
    case .page(let page): page.changes.isEmpty && page.present.isEmpty && !page.isReset
    case .commit(let commit):
      !commit.touched.contains { $0.isChange } && commit.moves.allSatisfy { $0.pages != nil }
    case .none: kind == .note || kind == .sync || kind == .lease
    default: false
    }
  }
}

extension PictureModel {
  /// A part of the steps that is shown as one.
  enum Run: Sendable {
    case step(Step)
    /// Steps in which nothing happened to a record.
    case quiet([Step])
    /// Steps for which the page has no room.
    case omitted(Int)
  }

  /// The steps in order, of which no more than a number are shown.
  ///
  /// The steps of the caption and those around them are kept first.
  func runs(atMost most: Int) -> [Run] {
    let kept = kept(atMost: most)
    var runs: [Run] = []
    var (quiet, omitted): ([Step], Int) = ([], 0)
    func close() {
      if quiet.count > 1 { runs.append(.quiet(quiet)) } else { runs += quiet.map(Run.step) }
      if omitted > 0 { runs.append(.omitted(omitted)) }
      (quiet, omitted) = ([], 0)
    }
    for step in steps {
      if !kept.contains(step.number) {
        if !quiet.isEmpty { close() }
        omitted += 1
      } else if step.isQuiet, !step.isCited {
        if omitted > 0 { close() }
        quiet.append(step)
      } else {
        close()
        runs.append(.step(step))
      }
    }
    close()
    return runs
  }

  /// The numbers of the steps that are shown.
  private func kept(atMost most: Int) -> Set<Int> {
    guard steps.count > most else { return Set(steps.map(\.number)) }
    // The nearer to a step of the caption, or to either end, the earlier a step is chosen.
    let anchors = [1, steps.count] + steps.filter { $0.isCited || $0.event.kind == .broken }.map(\.number)
    let distances = steps.map { step in
      (number: step.number, distance: anchors.map { abs($0 - step.number) }.min() ?? 0)
    }
    return Set(
      distances.sorted { ($0.distance, $0.number) < ($1.distance, $1.number) }.prefix(most).map(\.number))
  }
}
