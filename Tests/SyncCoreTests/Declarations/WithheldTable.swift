import CanonicalSync
import InMemoryAdapters

/// A remote, and a store that outlives several versions of an app.
struct WithheldTable {
  let clock = ManualClock()
  let remote: InMemoryRemote
  let store: InMemoryStore

  /// - Parameter numberField: A field that the remote writes into each record.
  init(numberField: FieldName? = nil) {
    let clock = clock
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.numberField = numberField
    remote = InMemoryRemote(configuration: configuration, clock: clock)
    store = InMemoryStore(leaseClock: { clock.timestamp })
  }

  func engine(
    _ entities: Entity..., options: SyncOptions = SyncOptions()
  ) async throws -> SyncEngine {
    try await SyncEngine(
      schema: SyncSchema(entities), store: store, source: remote, sink: remote, clock: clock,
      options: options, random: RepeatedNumber())
  }

  func keys(_ type: RecordType) -> [String] { store.records(of: type).map(\.id.key).sorted() }

  func withheld(_ id: RecordID) async throws -> WithheldChange? {
    try await store.read { (snapshot) throws(SyncError) in try snapshot.withheld(for: [.record(id)]).first }
  }
}
