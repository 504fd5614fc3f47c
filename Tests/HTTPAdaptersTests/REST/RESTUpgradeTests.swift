import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A JSON API with records that an upgrade has converted here", .timeLimit(.minutes(10)))
struct RESTUpgradeTests {
  private static func engine(
    _ api: FakeREST, _ store: InMemoryStore, _ clock: ManualClock, version: Int, write: String, member: String
  ) async throws -> SyncEngine {
    var notes = RESTAPI.Collection(
      Entity("notes", schemaVersion: version, schemaVersionField: "v"), path: "notes")
    if !member.isEmpty { notes.version = "/updated_at" }
    notes.item = "notes/{id}"
    notes.push = RESTAPI.Push(write: RESTAPI.Request(write, "notes/{id}"))
    let description = RESTAPI(base: FakeREST.base, collections: [notes])
    let source = try RESTSource(description, transport: api, clock: clock)
    let upgrade = ModelUpgrade("notes", to: 2) { note in
      if note["title"] == nil { note["title"] = note["name"] }
      note["name"] = nil
    }
    return try await SyncEngine(
      schema: description.schema, store: store, source: source, sink: RESTSink(source), clock: clock,
      upgrades: version > 1 ? [upgrade] : [])
  }

  /// The members that the upgrade has made are new to the remote, whatever the app has changed.
  @Test(arguments: ["PUT", "PATCH"], [#""updated_at":1,"#, ""])
  func anEditSendsTheNewFormWhole(write: String, member: String) async throws {
    let (api, store, clock) = (FakeREST(), InMemoryStore(), ManualClock())
    let stored = Mutex(#"{"id":"n",\#(member)"name":"Milk","n":1,"v":1}"#)
    api.onRequest { request in
      stored.withLock { stored in
        if request.method == "GET" {
          let isItem = request.address.path.hasSuffix("/n")
          return HTTPResponse(status: 200, body: Array((isItem ? stored : "[\(stored)]").utf8))
        }
        var fields = (try? FieldMap(Payload(Array(stored.utf8)))) ?? FieldMap()
        let sent = (try? FieldMap(Payload(request.body))) ?? FieldMap()
        if request.method == "PUT" { fields = FieldMap() }
        for name in sent.fields {
          fields[name] = sent[name]?.elementsEqual("null".utf8) == true ? nil : sent[name]
        }
        if !member.isEmpty { fields["updated_at"] = Array("2".utf8)[...] }
        stored = String(decoding: fields.payload.bytes, as: UTF8.self)
        return HTTPResponse(status: 200, body: Array(stored.utf8))
      }
    }
    _ = try await Self.engine(api, store, clock, version: 1, write: write, member: member).sync()
    let new = try await Self.engine(api, store, clock, version: 2, write: write, member: member)
    try await new.upgradeModels()
    try await new.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "notes", key: "n")) { $0["n"] = Array("2".utf8)[...] }
    }
    for _ in 1...2 { _ = try await new.sync() }
    let there = try FieldMap(Payload(Array(stored.withLock { $0 }.utf8)))
    #expect(there["title"].map { Array($0) } == Array(#""Milk""#.utf8), "\(stored.withLock { $0 })")
    #expect(
      there["n"].map { Array($0) } == Array("2".utf8) && there["v"].map { Array($0) } == Array("2".utf8))
    let here = try #require(store.records(of: "notes").first).payload
    #expect(try FieldMap(here)["title"] == there["title"] && FieldMap(here)["n"] == there["n"])
    #expect(try await new.edits.pending("notes").isEmpty)
    #expect(try await new.edits.conflicts().isEmpty)
  }
}
