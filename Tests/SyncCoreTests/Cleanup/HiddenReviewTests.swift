import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A clean-up shows again", .timeLimit(.minutes(10)))
struct HiddenReviewTests {
  private static func rule(days: Int64) -> CleanupPolicy.Rule {
    .hide("games", olderThan: .seconds(days * 86_400), by: .date("date"))
  }

  /// Games of a month and of two years ago.
  ///
  /// The clock is at the beginning of 2026.
  private func world() async throws -> World {
    let world = try await World()
    world.addTeams(1...3)
    world.addGame("month", home: "t1", away: "t2", date: "2025-12-01")
    world.addGame("years", home: "t1", away: "t3", date: "2024-01-01")
    _ = try await world.engine.sync()
    return world
  }

  @Test func whatAClockThatWasAheadHid() async throws {
    let world = try await world()
    let now = world.clock.timestamp
    world.clock.timestamp = now + .seconds(2 * 365 * 86_400)
    #expect(try await world.engine.cleanUp(CleanupPolicy([Self.rule(days: 365)])).hidden["games"] == 2)
    world.clock.timestamp = now
    let report = try await world.engine.cleanUp(CleanupPolicy([Self.rule(days: 365)]))
    #expect(report.shown == ["games": 1])
    #expect(report.hidden["games"] == 0)
    #expect(world.keys("games") == ["month"])
    // A second clean-up changes nothing.
    #expect(try await world.engine.cleanUp(CleanupPolicy([Self.rule(days: 365)])).shown.isEmpty)
  }

  @Test(arguments: [1, 400])
  func whatAnotherPolicyHid(_ recordsAtOnce: Int) async throws {
    let world = try await world()
    try await world.engine.cleanUp(CleanupPolicy([Self.rule(days: 7)], recordsAtOnce: recordsAtOnce))
    #expect(world.keys("games").isEmpty)
    let milder = CleanupPolicy([Self.rule(days: 365)], recordsAtOnce: recordsAtOnce)
    #expect(try await world.engine.cleanUp(milder).shown == ["games": 1])
    #expect(world.keys("games") == ["month"])
    #expect(try await world.engine.cleanUp(CleanupPolicy(recordsAtOnce: recordsAtOnce)).shown == ["games": 1])
    #expect(world.keys("games") == ["month", "years"])
    // A restored record is unchanged, so a listing changes nothing.
    let listing = try await world.engine.resync()
    #expect(listing["games"].unchanged == 2)
    #expect(listing["games"].swept == 0)
  }

  @Test func whatItRefersToWithIt() async throws {
    let world = try await world()
    let all = CleanupPolicy([Self.rule(days: 7), .hide("teams", where: .all([]))])
    #expect(try await world.engine.cleanUp(all).hidden == ["games": 2, "teams": 3])
    let report = try await world.engine.cleanUp(
      CleanupPolicy([Self.rule(days: 365), .hide("teams", where: .all([]))]))
    #expect(report.shown == ["games": 1, "teams": 2])
    #expect(report.spared == ["games": 0, "teams": 2])
    #expect(world.keys("games") == ["month"])
    #expect(world.keys("teams") == ["t1", "t2"])
    let told = world.recorder.events.compactMap { event -> [String]? in
      guard case .pageCommitted(let page) = event, case .records(let ids) = page.changed, page.fetched == 0
      else { return nil }
      return ids.map(\.key).sorted()
    }
    #expect(told.last == ["month", "t1", "t2"])
  }

  @Test func whatWouldDangleOnceItsTargetIsBack() async throws {
    let world = try await world()
    try await world.engine.cleanUp(CleanupPolicy([Self.rule(days: 7)]))
    world.remote.delete("teams", "t2")
    _ = try await world.engine.sync()
    #expect(try await world.engine.cleanUp(CleanupPolicy([])).shown == ["games": 2])
    #expect(world.keys("games") == ["years"])
    let games = try await world.engine.status().first { $0.type == "games" }
    #expect(games?.withheld == [.parked: 1])
    world.addTeams(2...2)
    _ = try await world.engine.sync()
    #expect(world.keys("games") == ["month", "years"])
  }

  @Test func nothingOnceItIsToldToStop() async throws {
    let world = try await world()
    try await world.engine.cleanUp(CleanupPolicy([Self.rule(days: 7)]))
    let report = try await world.engine.cleanUp(CleanupPolicy(), token: FlagToken(isCancelled: true))
    #expect(report.wasCancelled)
    #expect(world.keys("games").isEmpty)
  }
}
