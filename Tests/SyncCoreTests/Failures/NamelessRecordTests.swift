import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Testing

@Suite("A record with an empty key", .timeLimit(.minutes(10)))
struct NamelessRecordTests {
  private struct Source: RemoteRecordSource {
    let base: InMemoryRemote
    let extra: RecordChange
    var identity: String { base.identity }
    var capabilities: SourceCapabilities { base.capabilities }
    func query(for type: RecordType) -> String { base.query(for: type) }

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      var page = try await base.page(request)
      page.changes.append(extra)
      return page
    }
  }

  private static let id = RecordID(type: "meters", key: "")
  private static let version = Version(modifiedAt: Timestamp(microseconds: 1))

  @Test(arguments: [
    .upsert(Record(id: id, version: version, payload: Payload(Array(#"{"n":1}"#.utf8)), fields: [])),
    .tombstone(Tombstone(id: id, version: version)),
    RecordChange.malformed(
      MalformedRecord(type: "meters", key: "", bytes: Payload([1]), reason: "is no JSON")),
  ])
  func isQuarantinedAndStopsNothing(_ extra: RecordChange) async throws {
    let world = try await PushWorld([PushWorld.meters])
    let engine = try await SyncEngine(
      schema: world.engine.schema, store: world.store, source: Source(base: world.remote, extra: extra),
      clock: world.clock)
    for number in 1...3 {
      world.remote.upsert("meters", "m\(number)", "{}")
      let result = try await engine.sync()
      #expect(result.failures.isEmpty && result.total.inserted == 1)
      #expect(world.here().count == number)
    }
    #expect(try await engine.status().first?.withheld == [.quarantined: 1])
  }
}
