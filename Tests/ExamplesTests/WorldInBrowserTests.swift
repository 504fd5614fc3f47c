import SyncPictures
import SyncSimulation
import Testing

/// Pictures of worlds as headless Chromium shows them.
@Suite("A world in a browser", .serialized, .timeLimit(.minutes(10)))
struct WorldInBrowserTests {
  @Test(.enabled(if: PageCheck.hasBrowser, "Chromium or python3 is missing here"))
  func isReadableWhereAPromiseBroke() async throws {
    // A flaw that needs three lanes, and whose caption has each part.
    let flaw = "storeForgetsConflicts"
    let hit = try #require(Simulation().hunt(mutant: flaw, seeds: 0..<20))
    let picture = try #require(
      Simulation().withFlaw(flaw) { $0.picture(of: $0.shrink(hit.outcome.recording, attempts: 700)) })
    let outcome = try await PageCheck.run(picture.page, drawnAs: "world")
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.output) \(outcome.errors)")
    #expect(
      try outcome.json["headings"] as? [String] == [
        "Broken: \(Promise.noLostEdit.sentence)", "What happened", "Step by step", "The world",
      ])
  }

  @Test(.enabled(if: PageCheck.hasBrowser, "Chromium or python3 is missing here"))
  func isReadableWhereNothingBroke() async throws {
    let picture = Simulation().picture(of: Simulation().run(seed: 7).recording)
    let outcome = try await PageCheck.run(picture.page)
    #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.output) \(outcome.errors)")
  }
}
