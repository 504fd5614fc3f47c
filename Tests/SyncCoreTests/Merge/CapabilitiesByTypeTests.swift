import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("The capabilities of a source by type", .timeLimit(.minutes(10)))
struct CapabilitiesByTypeTests {
  /// The versions of meters rise; those of folders say nothing.
  private struct Source: RemoteRecordSource {
    let base: InMemoryRemote

    var identity: String { base.identity }
    var capabilities: SourceCapabilities { capabilities(of: "folders") }

    func capabilities(of type: RecordType) -> SourceCapabilities {
      var capabilities = base.capabilities
      if type == "folders" {
        (capabilities.versions, capabilities.serverManagedFields) = (.latestFetched, ["name"])
      }
      return capabilities
    }

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage { try await base.page(request) }
  }

  private static let types: [RecordType] = ["meters", "folders"]

  @Test func aTypeWhoseVersionsHaveNoOrderDoesNotTakeItFromTheOthers() async throws {
    let world = try await PushWorld([PushWorld.meters, PushWorld.folders])
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: Source(base: world.remote), clock: world.clock)
    for number in 1...2 {
      for type in Self.types { world.remote.upsert(type, "a", #"{"name":\#(number)}"#) }
    }
    _ = try await engine.sync()
    for type in Self.types { world.remote.behave(.laggingReplica(changes: 1), onNext: 1, of: type) }
    let result = try await engine.sync(SyncRequest(fullPull: Set(Self.types)))
    #expect(result.entities.first { $0.type == "meters" }?.counts.skippedOlder == 1)
    #expect(result.entities.first { $0.type == "folders" }?.counts.updated == 1)
    #expect(world.here("meters") == ["a": #"{"name":2}"#])
    #expect(world.here("folders") == ["a": #"{"name":1}"#])
  }

  @Test func whatTheRemoteWritesInOneTypeIsAnEditInAnother() async throws {
    let world = try await PushWorld([PushWorld.meters, PushWorld.folders])
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: Source(base: world.remote), sink: world.remote,
      clock: world.clock)
    for type in Self.types { world.remote.upsert(type, "a", #"{"name":1}"#) }
    _ = try await engine.sync()
    for type in Self.types {
      try await engine.edits.perform { (batch) throws(SyncError) in
        try batch.set(RecordID(type: type, key: "a")) { $0["name"] = Array("2".utf8)[...] }
      }
      world.clock.advance(by: .seconds(1))
      world.remote.upsert(type, "a", #"{"name":3}"#)
    }
    _ = try await engine.sync(SyncRequest(direction: .pull))
    #expect(try await engine.edits.conflicts().map(\.id.type) == ["meters"])
  }
}
