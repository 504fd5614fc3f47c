import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import Testing

/// Two mirrors with edits of their own, and another client that edits at the API.
@Suite(
  "Edits pushed to a real JSON API",
  .enabled(if: RealREST.address != nil, "Tests/run --all starts the server."), .serialized,
  .timeLimit(.minutes(10))
)
struct RESTPushTests {
  private struct Item: SyncedRecord, Encodable {
    static let recordType: RecordType = "items"
    var value: Int
  }

  /// Runs a body with two mirrors of one realm, both up to date.
  private func withTwo(
    precondition: String,
    _ body: (RealREST, RESTMirrorTests.Mirror, RESTMirrorTests.Mirror) async throws -> Void
  ) async throws {
    let realm = try RealREST()
    try await realm.load("items", (0..<12).map { ("k\($0)", #"{"id":"k\#($0)","value":\#($0)}"#) })
    var api = try realm.api(.cursor, ["items"], RESTMirrorTests.marked)
    api.collections[0].push?.precondition = RESTAPI.Precondition(rawValue: precondition)
    api.keepsUnknownMembers = true
    let mirrors = [
      try await RESTMirrorTests.Mirror(api, pageSize: 5, pushes: true),
      try await RESTMirrorTests.Mirror(api, pageSize: 5, pushes: true),
    ]
    for mirror in mirrors { _ = try await mirror.engine.sync() }
    try await body(realm, mirrors[0], mirrors[1])
  }

  private func expectEqual(_ realm: RealREST, _ mirrors: RESTMirrorTests.Mirror...) async throws {
    for _ in 0..<2 {
      for mirror in mirrors { #expect(try await mirror.engine.sync().failures.isEmpty) }
    }
    let listed = try await realm.listing("items")
    for mirror in mirrors {
      #expect(mirror.records("items") == listed)
      #expect(try await mirror.engine.edits.pending("items").isEmpty)
    }
  }

  @Test(arguments: ["etag", "version", ""])
  func twoMirrorsAndAnEditorConverge(_ precondition: String) async throws {
    try await withTwo(precondition: precondition) { realm, one, other in
      try await one.engine.edits.upsert(Item(value: 100), key: "k1")
      try await one.engine.edits.upsert(Item(value: 1000), key: "new")
      try await other.engine.edits.upsert(Item(value: 200), key: "k2")
      try await other.engine.edits.delete(RecordID(type: "items", key: "k3"))
      try await realm.put("items", "k4", "\"value\":400")
      try await realm.delete("items", "k5")
      let results = [try await one.engine.sync(), try await other.engine.sync()]
      #expect(results.map(\.pushed.accepted) == [2, 2])
      try await expectEqual(realm, one, other)
      let listed = try await realm.listing("items")
      #expect(listed["k1"]?.contains("100") == true && listed["k3"] == nil && listed["new"] != nil)
    }
  }

  @Test(arguments: ["etag", "version", ""])
  func aConflictIsLoggedAndNotLost(_ precondition: String) async throws {
    try await withTwo(precondition: precondition) { realm, one, other in
      try await one.engine.edits.upsert(Item(value: 111), key: "k1")
      try await other.engine.edits.upsert(Item(value: 222), key: "k1")
      #expect(try await one.engine.sync().pushed.accepted == 1)
      #expect(try await other.engine.sync().pushed.conflicts == 1)
      try await expectEqual(realm, one, other)
      // The later edit wins; the log has the other one.
      #expect(try await realm.listing("items")["k1"]?.contains("222") == true)
      let log = try await other.engine.edits.conflicts()
      #expect(log.count == 1)
    }
  }

  @Test func aLostAnswerHasNoSecondEffect() async throws {
    let realm = try RealREST()
    try await realm.load("items", (0..<20).map { ("k\($0)", #"{"id":"k\#($0)","value":0}"#) })
    let clock = FastClock(factor: 20)
    try await FaultProxy.with(
      server: try #require(RealREST.address), seed: 3, share: 0.15, onStall: { clock.skip(.seconds(3600)) }
    ) { proxy in
      var api = try realm.api(.cursor, ["items"], through: proxy.address, RESTMirrorTests.marked)
      api.keepsUnknownMembers = true
      let mirror = try await RESTMirrorTests.Mirror(
        api, pageSize: 10, clock: clock, transport: TestTransport.make(clock: clock), pushes: true)
      for _ in 0..<5 where try await mirror.engine.sync().failures.isEmpty { break }
      for number in 0..<10 {
        try await mirror.engine.edits.upsert(Item(value: 1 + number), key: "k\(number)")
      }
      try await mirror.engine.edits.delete(RecordID(type: "items", key: "k15"))
      for _ in 0..<10 where try await !mirror.engine.edits.pending("items").isEmpty {
        _ = try? await mirror.engine.sync()
      }
      proxy.stopSpoiling()
      // An edit that failed is postponed, by the wall clock.
      while try await !mirror.engine.edits.pending("items").isEmpty {
        _ = try await mirror.engine.sync()
        try await ContinuousClock().sleep(for: .milliseconds(100))
      }
      _ = try await mirror.engine.sync()
      #expect(try await mirror.engine.edits.pending("items").isEmpty)
      #expect(try await mirror.records("items") == realm.listing("items"))
      // No attempt met its own effect as another client's.
      #expect(try await mirror.engine.edits.conflicts().isEmpty)
    }
  }
}
