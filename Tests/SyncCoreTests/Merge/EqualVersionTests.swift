import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A copy that differs under an equal version", .timeLimit(.minutes(10)))
struct EqualVersionTests {
  /// Writes a member anew for each answer.
  private final class Source: RemoteRecordSource {
    let base: InMemoryRemote
    private let count = Mutex(0)
    init(base: InMemoryRemote) { self.base = base }

    var identity: String { base.identity }
    var capabilities: SourceCapabilities { base.capabilities }

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      var page = try await base.page(request)
      page.changes = page.changes.map { change in
        guard case .upsert(var record) = change, var fields = try? FieldMap(record.payload) else {
          return change
        }
        let number = count.withLock { count in
          count += 1
          return count
        }
        fields["served"] = Array("\(number)".utf8)[...]
        record.payload = fields.payload
        return .upsert(record)
      }
      return page
    }
  }

  @Test func isTheBaseOfAnEditAndNoConflict() async throws {
    let world = try await PushWorld([PushWorld.meters])
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: Source(base: world.remote), sink: world.remote,
      clock: world.clock)
    world.remote.upsert("meters", "m", #"{"name":1}"#)
    _ = try await engine.sync()
    try await world.write("meters", "m", ["name": "2"])
    let listing = SyncRequest(fullPull: ["meters"], direction: .pull)
    for _ in 1...2 { _ = try await engine.sync(listing) }
    #expect(try await engine.edits.conflicts().isEmpty)
    #expect(try await world.outbox().first?.base.record.map { "\($0.payload)" }?.contains("1") == true)
    #expect(world.here()["m"]?.contains(#""name":2"#) == true)
    // Another client's change has a version of its own.
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "m", #"{"name":3}"#)
    _ = try await engine.sync(listing)
    #expect(try await engine.edits.conflicts().count == 1)
  }

  @Test func leavesARecordHidden() async throws {
    let world = try await PushWorld([Entity("meters", indexes: ["name"])])
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: Source(base: world.remote), clock: world.clock)
    world.remote.upsert("meters", "m", #"{"name":1}"#)
    _ = try await engine.sync()
    let policy = CleanupPolicy([.hide("meters", where: .equal("name", 1))])
    #expect(try await engine.cleanUp(policy).hidden == ["meters": 1])
    for _ in 1...2 {
      _ = try await engine.resync("meters")
      #expect(world.here().isEmpty)
    }
    // Another client's change shows it.
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "m", #"{"name":2}"#)
    _ = try await engine.sync()
    #expect(world.here()["m"]?.contains(#""name":2"#) == true)
  }
}
