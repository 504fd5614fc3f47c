import CanonicalSync
import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import InMemoryAdapters
import KintoAdapters
import SyncAdapters
import Testing

@Suite(
  "Mirrors of a real Kinto", .enabled(if: RealKinto.address != nil, "Tests/run --all starts the server."),
  .timeLimit(.minutes(10)))
struct MirrorTests {
  /// A type's records in a store, each record's bytes by its id.
  private func mirrored(_ store: InMemoryStore, _ type: RecordType) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: store.records(of: type).map {
        ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
      })
  }

  private func engine(
    _ types: [RecordType], _ store: InMemoryStore, _ source: KintoSource, pageSize: Int
  ) async throws -> SyncEngine {
    try await SyncEngine(
      schema: SyncSchema(types.map { Entity($0) }), store: store, source: source,
      options: SyncOptions(pageSize: pageSize))
  }

  @Test(.enabled(if: Baseball.isPresent, "The shared data are absent."), arguments: [37, 400])
  func realDataComeWholeAndThenOnlyWhatChanged(_ pageSize: Int) async throws {
    let types: [RecordType] = ["stadiums", "teams", "games"]
    let kinto = try await RealKinto("stadiums", "teams", "games")
    for type in types {
      try await kinto.load(type.rawValue, try Baseball.objects(type.rawValue, atMost: 2000))
    }
    let store = InMemoryStore()
    let source = try kinto.source(overlap: .milliseconds(1))
    let engine = try await engine(types, store, source, pageSize: pageSize)
    var result = try await engine.sync()
    #expect(result.failures.isEmpty)
    for type in types {
      let listed = try await kinto.listing(type.rawValue)
      #expect(!listed.isEmpty)
      #expect(mirrored(store, type) == listed)
    }

    // Once the server's clock has passed the last write, a run is one request for each collection.
    repeat {
      kinto.transport.reset()
      result = try await engine.sync()
    } while kinto.transport.requests.count > types.count || result.total.fetched > 0
    #expect(kinto.transport.requests.count == types.count)
    #expect(kinto.transport.requests.allSatisfy { $0.headers["If-None-Match"] != nil })

    let games = try Baseball.objects("games", atMost: 15)
    for game in games[0..<5] { try await kinto.delete("games", game.id) }
    for game in games[5..<10] { try await kinto.put("games", game.id, "\"changed\":true") }
    try await kinto.put("games", "new-game", "\"number\":1.50")
    result = try await engine.sync()
    #expect(result.total.deleted == 5)
    #expect(result.total.updated == 5)
    #expect(result.total.inserted == 1)
    #expect(result.total.fetched == 11)
    #expect(try await kinto.listing("games") == mirrored(store, "games"))
  }

  @Test func aCollectionMadeAnewLeavesNoGhosts() async throws {
    let kinto = try await RealKinto("items")
    let store = InMemoryStore()
    let engine = try await engine(["items"], store, try kinto.source(), pageSize: 3)
    for key in 1...8 { try await kinto.put("items", "old\(key)", "\"value\":1") }
    _ = try await engine.sync()
    #expect(store.records(of: "items").count == 8)
    try await kinto.send("DELETE", "/collections/items")
    try await kinto.send("PUT", "/collections/items")
    try await kinto.put("items", "new", "\"value\":2")
    let result = try await engine.sync()
    #expect(result.failures.isEmpty)
    #expect(try await kinto.listing("items") == mirrored(store, "items"))
  }

  @Test func refusalsAreToldApart() async throws {
    let kinto = try await RealKinto("items")
    func code(_ source: KintoSource, _ type: RecordType = "items") async -> SyncError.Code? {
      do {
        _ = try await source.page(
          PageRequest(entity: Entity(type), position: .start(since: nil), limit: 5, pass: 1))
        return nil
      } catch {
        return error.code
      }
    }
    #expect(try await code(kinto.source()) == nil)
    #expect(try await code(kinto.source(credentials: nil)) == .authentication)
    #expect(
      try await code(kinto.source(credentials: .basic(user: "other", password: "x"))) == .permissionDenied)
    #expect(try await code(kinto.source(bucket: "no-such-bucket")) == .permissionDenied)
    #expect(try await code(kinto.source(), "no-such-collection") == .invalidConfiguration)
  }

  @Test func aLookupTakesAnyKeyForAKey() async throws {
    let kinto = try await RealKinto("items")
    let keys = ["123", "true", "null", "a-b", "1e5"] + (0..<60).map { "k\($0)" }
    for key in keys { try await kinto.put("items", key, "\"value\":1") }
    try await kinto.delete("items", "k7")
    let ids = (keys + ["never", "a,b", "\"", "é/1", ".."]).map { RecordID(type: "items", key: $0) }
    let found = try await kinto.source().lookup(ids, of: Entity("items"))
    #expect(Set(found.compactMap(\.id?.key)) == Set(keys).subtracting(["k7"]))
  }
}
