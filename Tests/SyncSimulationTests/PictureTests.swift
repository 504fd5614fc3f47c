import InMemoryAdapters
import SyncModels
import SyncPictures
import SyncPorts
import SyncSimulation
import Testing

/// Captions of broken worlds: a reader has nothing but the page.
@Suite("The picture of a world", .timeLimit(.minutes(10)))
struct PictureTests {
  // MARK: Flaws of ports

  /// A flaw, and patterns of what the caption has to say: of the cause or the step, and of the end.
  ///
  /// `RECORD` and `TYPE` stand for those of the broken promise, because the world that shows a flaw
  /// changes with the library.
  struct Story: Sendable, CustomTestStringConvertible {
    var flaw: String
    var promise: Promise
    var step: [String]
    var end: [String]
    var testDescription: String { flaw }
  }

  static let stories = [
    Story(
      flaw: "storeForgetsACopy", promise: .nothingSilent,
      step: [#"got page \d of `TYPE`; it had .*`RECORD`"#, #"committed page \d of `TYPE`"#, "left out"],
      end: ["of `RECORD` the store has nothing, and the remote has `name"]),
    Story(
      flaw: "storeForgetsMarks", promise: .convergence,
      step: ["the store then showed no `RECORD`", "a sweep", #"page \d of `TYPE` of the listing had it"#],
      end: ["of `RECORD` the store has nothing, and the remote has `name"]),
    Story(
      flaw: "pageWithoutItsLast", promise: .convergence,
      step: [
        #"got page \d of `TYPE`"#, "had .*`RECORD`", "stored the token for the next delta",
        "no later page had it",
      ],
      end: ["of `RECORD` the store has nothing, and the remote has `name"]),
    Story(
      flaw: "sinkTakesNothing", promise: .convergence,
      step: ["pushed its edit of `RECORD`: taken", "the remote does not have it", "gone from the outbox"],
      end: ["of `RECORD` the store has .*, and the remote has "]),
    Story(
      flaw: "storeKeepsSettledEdits", promise: .convergence,
      step: ["pushed its edit of `RECORD`: taken", "it stayed in the outbox"],
      end: ["with an edit to push"]),
    Story(
      flaw: "storeForgetsConflicts", promise: .noLostEdit,
      step: [
        "waited to be pushed", "the edit of `RECORD` was gone from the outbox", "the log of conflicts has ",
      ],
      end: ["store and remote both have .* of `RECORD`"]),
    Story(
      flaw: "storeOverlooksWaiters", promise: .convergence,
      step: [
        #"withheld `RECORD` \(parked, until \S+ is there\)"#,
        // Later, or with the same page.
        "was there from then on|the store then showed `", "stayed parked",
      ],
      end: ["of `RECORD` the store has (nothing that it shows|.* withheld as parked)"]),
    Story(
      flaw: "storeOverlooksMissingTargets", promise: .references,
      step: [
        "the store then showed `RECORD`", #"Of `\S+`, to which `RECORD` refers, the store has nothing"#,
      ],
      end: ["of `RECORD`"]),
    Story(
      flaw: "sinkSendsTwice", promise: .oneEffect,
      step: ["an edit of `RECORD` waited to be pushed", "The remote applied one edit of `RECORD` twice"],
      end: ["of `RECORD`"]),
  ]

  @Test(arguments: stories)
  func tellsCauseStepAndEnd(_ story: Story) throws {
    let (picture, violation) = try #require(Self.drawn(story.flaw, story.promise))
    let (caption, id) = (picture.caption, try #require(violation.records.first))
    for part in story.step + story.end {
      let pattern = part.replacing("RECORD", with: "\(id)").replacing("TYPE", with: "\(id.type)")
      #expect(try caption.contains(Regex(pattern)), "\(pattern)\nin: \(caption)")
    }
    #expect(caption.hasSuffix("Broken: “\(story.promise.sentence)” (\(story.promise.rawValue))"))
    #expect(caption.hasPrefix("At "))
    // The flaw is what the reader has to find.
    #expect(!caption.contains(story.flaw) && !picture.page.contains(story.flaw))
    #expect(picture.page.contains("<h1>Broken: "))
  }

  /// Draws the first world in which a flaw breaks a promise.
  private static func drawn(
    _ flaw: String, _ promise: Promise
  ) -> (picture: WorldPicture, violation: Violation)? {
    let hits = (0..<60).lazy.compactMap { Simulation().hunt(mutant: flaw, seeds: $0..<$0 + 1) }
    guard let hit = hits.first(where: { $0.outcome.violations.first?.promise == promise }) else { return nil }
    let drawn = Simulation().withFlaw(flaw) { simulation -> (WorldPicture, Violation?) in
      let recording = simulation.shrink(hit.outcome.recording, attempts: 300)
      return (simulation.picture(of: recording), simulation.replay(recording).violations.first)
    }
    guard case (let picture, let violation?)? = drawn else { return nil }
    return (picture, violation)
  }

  // MARK: Parts of an adapter's author

  @Test func ofAnAuthorsSourceThatHidesDeletions() throws {
    var simulation = Simulation()
    simulation.hazards = []
    simulation.useSource { DeafSource(base: $0) }
    let caption = try self.caption(of: simulation)
    #expect(caption.contains("was deleted at the remote"), "\(caption)")
    #expect(caption.contains("and the remote has nothing"), "\(caption)")
    #expect(caption.contains("(convergence)") && !caption.contains("DeafSource"))
  }

  @Test func ofAnAuthorsSourceThatStopsAtItsFirstPage() throws {
    var simulation = Simulation()
    simulation.hazards = []
    simulation.useSource { HastySource(base: $0) }
    let caption = try self.caption(of: simulation)
    #expect(caption.contains("the remote got this copy of"), "\(caption)")
    #expect(caption.contains("stored the token for the next delta"), "\(caption)")
    #expect(caption.contains("In the end, after 5 syncs without faults, of"), "\(caption)")
  }

  private func caption(of simulation: Simulation) throws -> String {
    try #require(picture(simulation, seeds: 0..<100)).caption
  }

  // MARK: The page

  @Test func ofAWorldThatIsNotBrokenSaysSo() {
    let outcome = Simulation().run(seed: 7)
    let picture = Simulation().picture(of: outcome.recording)
    #expect(picture.caption == "No promise was broken: the store became equal to the remote.")
    #expect(picture.page.hasPrefix(WorldPicture.beginning))
    #expect(picture.page.contains("<header class=\"good\">"))
    #expect(picture.page.contains("steps without an effect on records"))
  }

  @Test func ofAWorldThatCannotBeMadeSaysWhy() {
    var simulation = Simulation()
    simulation.useStores { _ throws(SyncError) in throw SyncError(.storeFailure, during: "opening <a store>")
    }
    let picture = simulation.picture(of: Recording(choices: []))
    #expect(picture.caption.contains("the world could not be made"))
    #expect(picture.page.contains("The world had no step.") && picture.page.contains("&lt;a store&gt;"))
  }

  @Test func loadsNothing() {
    let page = Simulation().picture(of: Simulation().run(seed: 3).recording).page
    for word in ["<script", "http://", "https://", " src=", "@import", "url("] {
      #expect(!page.contains(word))
    }
  }

  @Test func recordsNothingInAWorldThatIsNotDrawn() {
    let outcome = Simulation().run(seed: 7)
    #expect(outcome.timeline.isEmpty)
    #expect(Simulation().replay(outcome.recording, keepsTimeline: true).hash == outcome.hash)
  }
}

/// A source that never tells of a deletion.
private struct DeafSource: ForwardingSource {
  let base: any RemoteRecordSource

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var page = try await base.page(request)
    page.changes.removeAll { if case .tombstone = $0 { true } else { false } }
    return page
  }
}

/// A source that takes the first page for the last.
private struct HastySource: ForwardingSource {
  let base: any RemoteRecordSource

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var page = try await base.page(request)
    if case .more = page.next, !page.changes.isEmpty { page.next = .done(nil) }
    return page
  }
}
