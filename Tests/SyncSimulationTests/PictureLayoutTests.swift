import SyncModels
import Testing

@testable import SyncPictures
@testable import SyncSimulation

/// The picture as a value, of events that no world has to have.
@Suite("A picture's layout")
struct PictureLayoutTests {
  private func outcome(_ events: [WorldEvent], _ violations: [Violation] = []) -> Outcome {
    Outcome(
      violations: violations, sights: [:], hazards: [], hash: 0, steps: events.count, calls: 0,
      recording: Recording(choices: []), timeline: [], events: events)
  }

  /// A long world, which breaks at one of its steps.
  private func longWorld(_ count: Int, brokenAt place: Int, payload: String = "{}") -> Outcome {
    let id = RecordID(type: "notes", key: "n7")
    let violation = Violation(promise: .nothingSilent, words: "app 1 lost notes/n7", records: [id])
    var events = (0..<count).map { number in
      WorldEvent(
        time: .seconds(number), who: "remote", kind: .write, words: "notes/n\(number) is written: \(payload)",
        facts: .remote(RecordID(type: "notes", key: "n\(number)"), .copy(payload)))
    }
    events[place] = WorldEvent(
      time: .seconds(place), who: "!!", kind: .broken, words: "nothingSilent", facts: .broken(violation))
    return outcome(events, [violation])
  }

  @Test func leavesOutWhatIsFarFromTheCaption() throws {
    let picture = WorldPicture(
      longWorld(9000, brokenAt: 4000, payload: String(repeating: "<x>", count: 3000)))
    #expect(picture.page.utf8.count < 2_000_000)
    #expect(picture.page.contains("steps are left out …"))
    for step in [1, 8, 4001, 9000] { #expect(picture.page.contains("id=\"step-\(step)\""), "\(step)") }
    #expect(!picture.page.contains("id=\"step-2500\""))
    #expect(!picture.page.contains("<x>"))
  }

  @Test func hasAColumnForEachStepAndALaneForEachPart() {
    let model = PictureModel(longWorld(30, brokenAt: 20))
    #expect(model.lanes == ["world", "remote", "store"])
    let layout = PictureLayout(model)
    #expect(layout.marks.count == 30)
    #expect(Set(layout.marks.map(\.x)).count == 30)
    #expect(layout.marks.allSatisfy { $0.x < layout.width && $0.y < layout.height })
    #expect(layout.marks[20].y == layout.lanes[0].y && layout.marks[0].y == layout.lanes[1].y)
  }

  @Test func isBoundedForALongWorld() {
    let layout = PictureLayout(PictureModel(longWorld(5000, brokenAt: 2000)))
    #expect(layout.marks.count <= PictureLayout.mostColumns)
    #expect(layout.gaps.map(\.count).reduce(layout.marks.count, +) == 5000)
    #expect(zip(layout.times, layout.times.dropFirst()).allSatisfy { $1.x - $0.x >= 80 })
  }

  @Test func gathersStepsWithoutAnEffect() {
    func event(_ who: String, _ kind: WorldEvent.Kind) -> WorldEvent {
      WorldEvent(time: .zero, who: who, kind: kind, words: "a")
    }
    let events = [
      event("app 2", .life), event("app 2", .note), event("app 2.1", .lease), event("app 1", .fault),
      event("app 1", .sync),
    ]
    let runs = PictureModel(outcome(events)).runs(atMost: 10)
    guard case .quiet(let steps) = runs[1] else { return #expect(Bool(false), "\(runs)") }
    #expect(steps.map(\.number) == [2, 3] && runs.count == 4)
  }

  @Test(arguments: [
    (#"{"id":"n7","name":3,"league":"l1","home":null}"#, "name 3, league l1"), ("no object", "no object"),
    (#"{"id":"n7"}"#, #"{"id":"n7"}"#),
  ])
  func shortensPayloads(_ payload: String, _ brief: String) {
    #expect(payload.brief == brief)
  }

  @Test func spellsTimes() {
    #expect(Duration.milliseconds(12_050).told == "12.050 s")
    #expect(Duration.seconds(48 * 3600 + 61).told == "48 h 1 min 1 s")
  }
}
