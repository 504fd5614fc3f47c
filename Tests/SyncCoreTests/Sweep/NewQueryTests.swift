import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("A source with another query", .timeLimit(.minutes(10)))
struct NewQueryTests {
  /// Lists the teams up to a number, as a filter at the remote would.
  private struct Source: RemoteRecordSource {
    let base: InMemoryRemote
    let last: Int
    var identity: String { base.identity }
    var capabilities: SourceCapabilities { base.capabilities }
    func query(for type: RecordType) -> String { "number <= \(last)" }

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      var page = try await base.page(request)
      page.changes.removeAll { $0.id.flatMap { Int($0.key.dropFirst()) }.map { $0 > last } ?? false }
      return page
    }
  }

  private func sync(_ world: World, upTo last: Int) async throws -> SyncResult {
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: Source(base: world.remote, last: last),
      clock: world.clock, options: SyncOptions(massDeletionRecords: 10))
    return try await engine.sync()
  }

  @Test(
    arguments: [InMemoryRemote.Configuration.privateZone, .fullOnly],
    [Entity.Visibility.perPage, .wholeEntity])
  func removesWhatItLeavesOutAtOnce(
    _ configuration: InMemoryRemote.Configuration, _ visibility: Entity.Visibility
  ) async throws {
    let world = try await World([Entity("teams", visibility: visibility)], configuration: configuration)
    world.addTeams(1...60)
    _ = try await sync(world, upTo: 60)
    let result = try await sync(world, upTo: 3)
    #expect(result.refusedSweeps.isEmpty && result["teams"].swept == 57)
    #expect(world.keys("teams") == ["t1", "t2", "t3"])
    #expect(try await sync(world, upTo: 60)["teams"].inserted == 57)
  }

  @Test func isAskedForIfItListsNothing() async throws {
    let world = try await World([Entity("teams")], configuration: .fullOnly)
    world.addTeams(1...60)
    _ = try await sync(world, upTo: 60)
    #expect(try await sync(world, upTo: 0).refusedSweeps.count == 1)
    #expect(world.keys("teams").count == 60)
  }

  @Test func excusesOneSweepAlone() async throws {
    let world = try await World([Entity("teams")], configuration: .fullOnly)
    world.addTeams(1...60)
    _ = try await sync(world, upTo: 60)
    _ = try await sync(world, upTo: 59)
    for number in 5...59 { world.remote.delete("teams", "t\(number)") }
    #expect(try await sync(world, upTo: 59).refusedSweeps.count == 1)
    #expect(world.keys("teams").count == 59)
  }
}
