import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A deletion that the remote tells of without a version", .timeLimit(.minutes(10)))
struct UndatedDeletionTests {
  private final class Source: RemoteRecordSource {
    let base: InMemoryRemote
    private let key = Mutex<String?>(nil)
    init(base: InMemoryRemote) { self.base = base }

    var deleted: String? {
      get { key.withLock { $0 } }
      set { key.withLock { $0 = newValue } }
    }
    var identity: String { base.identity }
    var capabilities: SourceCapabilities { base.capabilities }

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      var page = try await base.page(request)
      if let deleted {
        let id = RecordID(type: request.entity.type, key: deleted)
        page.changes.append(
          .tombstone(Tombstone(id: id, version: Version(modifiedAt: Timestamp(microseconds: 0)))))
      }
      return page
    }
  }

  @Test func deletesTheCopyThatIsHereAndNoLaterOne() async throws {
    let world = try await PushWorld([PushWorld.meters])
    let source = Source(base: world.remote)
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: source, sink: world.remote, clock: world.clock)
    world.clock.advance(by: .seconds(1))
    for key in ["m1", "m2"] { world.remote.upsert("meters", key, #"{"name":1}"#) }
    _ = try await engine.sync()
    source.deleted = "m1"
    #expect(try await engine.sync().total.deleted == 1)
    #expect(world.here().keys.sorted() == ["m2"])
    #expect(try await engine.sync().total.deleted == 0)
    // It is made again.
    source.deleted = nil
    world.clock.advance(by: .seconds(1))
    world.remote.upsert("meters", "m1", #"{"name":2}"#)
    _ = try await engine.sync()
    #expect(world.here()["m1"] == #"{"name":2}"#)
  }
}
