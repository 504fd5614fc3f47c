import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("The changes of a sync", .timeLimit(.minutes(10)))
struct ChangesTests {
  /// The keys of the first change; `nil` if they are too many.
  private func next(
    _ changes: inout some AsyncIteratorProtocol<ChangedRecords, Never>
  ) async -> [String]? {
    guard let change = await changes.next(isolation: #isolation), case .records(let ids) = change else {
      return nil
    }
    return ids.map(\.key).sorted()
  }

  @Test func nameTheRecordsToBeShownAnew() async throws {
    let world = try await World(options: SyncOptions(pageSize: 2))
    world.addTeams(1...3)
    var changes = world.engine.changes().makeAsyncIterator()
    _ = try await world.engine.sync()
    #expect(await next(&changes) == ["t1", "t2"])
    #expect(await next(&changes) == ["t3"])
    world.addTeams(2...2, name: "Renamed")
    world.remote.delete("teams", "t3")
    _ = try await world.engine.sync()
    #expect(await next(&changes) == ["t2", "t3"])
  }

  @Test func nameWhatWaitedForAnUpgrade() async throws {
    let world = try await World()
    world.remote.upsert("teams", "t1", #"{"id":"t1","schema":2}"#)
    _ = try await world.engine.sync()
    let upgraded = try await World(
      [Entity("teams", schemaVersion: 2, schemaVersionField: "schema")], remote: world.remote,
      store: world.store)
    var changes = upgraded.engine.changes().makeAsyncIterator()
    _ = try await upgraded.engine.sync()
    #expect(await next(&changes) == ["t1"])
  }

  @Test func areTooManyToNameForASlowListener() async throws {
    let world = try await World(options: SyncOptions(pageSize: 1))
    world.addTeams(1...300)
    var changes = world.engine.changes().makeAsyncIterator()
    _ = try await world.engine.sync()
    #expect(await next(&changes) == nil)
  }
}
