import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A complete listing that holds nothing", .timeLimit(.minutes(10)))
struct EmptyListingTests {
  private func synced(
    _ count: Int, _ visibility: Entity.Visibility = .perPage, options: SyncOptions = SyncOptions()
  ) async throws -> World {
    let world = try await World(
      [Entity("teams", visibility: visibility)], configuration: .fullOnly, options: options)
    world.addTeams(1...count)
    _ = try await world.engine.sync()
    return world
  }

  private func clear(_ world: World, but rest: Int = 0) {
    for key in world.remote.records(of: "teams").map(\.key).dropFirst(rest) {
      world.remote.delete("teams", key)
    }
  }

  @Test(arguments: [Entity.Visibility.perPage, .wholeEntity])
  func hasToBeAllowedFromTenLiveRecordsOn(_ visibility: Entity.Visibility) async throws {
    for count in [10, 11] {
      let world = try await synced(count, visibility)
      clear(world)
      // The next syncs do not remove them either, because the remote is unchanged.
      for _ in 1...3 {
        let result = try await world.engine.sync()
        #expect(result["teams"].swept == 0)
        #expect(result.refusedSweeps.map(\.refusal) == [.massDeletion(missing: count, of: count)])
        #expect(world.keys("teams").count == count)
      }
      let allowed = try await world.engine.sync(SyncRequest(allowsMassDeletion: true))
      #expect(allowed["teams"].swept == count && allowed.refusedSweeps.isEmpty)
      #expect(world.keys("teams").isEmpty)
    }
  }

  @Test(arguments: [Entity.Visibility.perPage, .wholeEntity], [1, 9])
  func ofFewRecordsHasToComeTwice(_ visibility: Entity.Visibility, _ count: Int) async throws {
    let world = try await synced(count, visibility)
    for _ in 1...2 {
      clear(world)
      let first = try await world.engine.sync()
      #expect(first["teams"].swept == 0 && first.refusedSweeps.count == 1)
      #expect(world.keys("teams").count == count)
      // An outage that has passed is forgotten.
      world.addTeams(1...count)
      _ = try await world.engine.sync()
    }
    clear(world)
    #expect(try await world.engine.sync()["teams"].swept == 0)
    let second = try await world.engine.sync()
    #expect(second["teams"].swept == count && second.refusedSweeps.isEmpty)
    #expect(world.keys("teams").isEmpty)
  }

  @Test func isForgottenOnceTheRecordsAreBack() async throws {
    let world = try await synced(20)
    clear(world)
    #expect(try await world.engine.sync().refusedSweeps.count == 1)
    world.addTeams(1...19)
    let result = try await world.engine.sync()
    #expect(result["teams"].swept == 1 && result.refusedSweeps.isEmpty)
    #expect(world.isEqual("teams"))
  }

  @Test func isNotOneThatHoldsARecord() async throws {
    let world = try await synced(20)
    clear(world, but: 1)
    let result = try await world.engine.sync()
    #expect(result["teams"].swept == 19 && result.refusedSweeps.isEmpty)
  }

  @Test func isWhatAnAppSaysItIs() async throws {
    let world = try await synced(30, options: SyncOptions(emptyListingRecords: 31))
    clear(world)
    _ = try await world.engine.sync()
    #expect(try await world.engine.sync()["teams"].swept == 30)
    await #expect(throws: SyncError.self) {
      _ = try await World(options: SyncOptions(emptyListingRecords: -1))
    }
  }

  // A push determines the state of an edited record, and a listing does not.
  @Test func leavesEditsAlone() async throws {
    let world = try await synced(12)
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "teams", key: "t3")) { $0["name"] = Array(#""mine""#.utf8)[...] }
    }
    clear(world)
    let result = try await world.engine.sync()
    #expect(result.refusedSweeps.map(\.refusal) == [.massDeletion(missing: 11, of: 12)])
    #expect(world.keys("teams").count == 12)
  }
}
