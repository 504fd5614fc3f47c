import CanonicalSync
import InMemoryAdapters
import Testing

// The code of Docs/ChangingModels.md.

private func modelExample(store: any LocalStore, remote: InMemoryRemote) async throws -> UpgradeReport {
  let schema = try SyncSchema(
    Entity("notes", schemaVersion: 2, schemaVersionField: "version", indexes: ["title"]))
  let upgrade = ModelUpgrade("notes", to: 2) { note in
    // Renamed: a copy that a new device wrote has the new member already.
    if note["title"] == nil { note["title"] = note["name"] }
    note["name"] = nil
    // Split in two.
    if case .string(let place)? = note[scalar: "place"] {
      let parts = place.split(separator: "/", maxSplits: 1).map(String.init)
      note[scalar: "building"] = parts.first.map { .string($0) }
      note[scalar: "room"] = parts.count > 1 ? .string(parts[1]) : nil
      note["place"] = nil
    }
    // Of another kind: the text is a number now.
    if case .string(let seats)? = note[scalar: "seats"] { note[scalar: "seats"] = .number(seats) }
    // Required from now on.
    if note["isDone"] == nil { note[scalar: "isDone"] = .boolean(false) }
  }
  let engine = try await SyncEngine(
    schema: schema, store: store, source: remote, sink: remote, upgrades: [upgrade])
  let report = try await engine.upgradeModels()
  for failure in report.failed { print(failure.id, failure.reason) }
  return report
}

@Suite("The guide to changing models")
struct ModelExampleTests {
  @Test func convertsWhatTheGuideSays() async throws {
    let (store, remote) = (InMemoryStore(), InMemoryRemote())
    remote.upsert("notes", "n", #"{"version":1,"name":"Tea","place":"B/12","seats":"4"}"#)
    remote.upsert("notes", "o", #"{"version":2,"title":"New","isDone":true}"#)
    let old = try await SyncEngine(
      schema: SyncSchema(Entity("notes", schemaVersionField: "version")), store: store, source: remote,
      sink: remote)
    _ = try await old.sync()
    let report = try await modelExample(store: store, remote: remote)
    #expect(report.converted == 1 && report.failed.isEmpty)
    let payload = store.records(of: "notes").first?.payload
    #expect(
      payload.map { String(decoding: $0.bytes, as: UTF8.self) }
        == #"{"version":1,"seats":4,"title":"Tea","building":"B","room":"12","isDone":false}"#)
  }
}
