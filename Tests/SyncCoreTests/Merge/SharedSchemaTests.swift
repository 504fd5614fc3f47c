import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A store that two versions of an app share", .timeLimit(.minutes(10)))
struct SharedSchemaTests {
  @Test(arguments: [Entity.Visibility.perPage, .wholeEntity])
  func showsByTheNewerOneWhatTheOlderOneWithheld(_ visibility: Entity.Visibility) async throws {
    let clock = ManualClock()
    let remote = InMemoryRemote(configuration: .privateZone, clock: clock)
    let store = InMemoryStore(leaseClock: { clock.timestamp })
    var engines: [SyncEngine] = []
    for schema in 1...2 {
      let folders = Entity(
        "folders", schemaVersion: schema, schemaVersionField: "schema",
        references: [.to("folders", by: "parent")], visibility: visibility)
      engines.append(
        try await SyncEngine(
          schema: SyncSchema(folders), store: store, source: remote, sink: remote, clock: clock,
          random: RepeatedNumber()))
    }
    let (older, newer) = (engines[0], engines[1])
    remote.upsert("folders", "f1", #"{"parent":"f0","schema":2}"#)
    #expect(try await newer.sync()["folders"].deferred == 1)
    // An edit creates the missing record, and the older version syncs next.
    try await older.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "folders", key: "f0")) { (fields) throws(SyncError) in
        fields["schema"] = Array("1".utf8)[...]
      }
    }
    _ = try await older.push()
    #expect(store.records(of: "folders").map(\.id.key) == ["f0"])
    _ = try await newer.sync()
    #expect(store.records(of: "folders").map(\.id.key).sorted() == ["f0", "f1"])
  }
}
