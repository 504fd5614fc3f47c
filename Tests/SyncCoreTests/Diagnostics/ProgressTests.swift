import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Progress", .timeLimit(.minutes(10)))
struct ProgressTests {
  @Test func tellsAFractionAndARate() async throws {
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.tellsTotals = true
    let world = try await World(
      [World.teams], configuration: configuration, options: SyncOptions(pageSize: 10))
    world.addTeams(1...40)
    let clock = world.clock
    // Each request takes a second.
    world.remote.onRequest = { _ in clock.advance(by: .seconds(1)) }
    _ = try await world.engine.sync()
    var pages: [SyncEvent.PageReport] = []
    for event in world.recorder.events {
      if case .pageCommitted(let page) = event { pages.append(page) }
    }
    #expect(pages.map(\.fraction) == [0.25, 0.5, 0.75, 1])
    #expect(pages.allSatisfy { $0.elapsed >= .seconds(1) })
    let last = try #require(pages.last)
    #expect(last.changesPerSecond == 40 / (last.elapsed / .seconds(1)))
  }
}
