import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("Bytes without a known key", .timeLimit(.minutes(10)))
struct NamelessBytesTests {
  private static let bytes = Array(#"{"id":"t2" BROKEN"#.utf8)

  @Test(arguments: [0, 86_400])
  func holdASweepUpAlsoOnceAClockIsPutRight(_ ahead: Int64) async throws {
    let world = try await World([World.teams], configuration: .fullOnly)
    let now = world.clock.timestamp
    world.addTeams(1...3)
    world.clock.timestamp = now + .seconds(ahead)
    _ = try await world.engine.sync()
    world.clock.timestamp = now + .seconds(60)
    world.remote.delete("teams", "t2")
    world.remote.putMalformed("teams", nil, Self.bytes)
    let result = try await world.engine.sync()
    #expect(result.refusedSweeps.map(\.refusal) == [.unidentifiedMalformed(1)])
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
  }

  @Test func holdNothingUpThatAPersonAllowedBefore() async throws {
    let world = try await World([World.teams], configuration: .fullOnly)
    world.addTeams(1...3)
    world.remote.putMalformed("teams", nil, Self.bytes)
    _ = try await world.engine.sync()
    _ = try await world.engine.sync(SyncRequest(allowsMassDeletion: true))
    world.remote.delete("teams", "t3")
    for _ in 1...2 { #expect(try await world.engine.sync().refusedSweeps.isEmpty) }
    #expect(world.keys("teams") == ["t1", "t2"])
  }
}
