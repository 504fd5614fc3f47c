import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import SyncJSON
import Testing

@Suite(
  "Mirrors of a real JSON API", .enabled(if: RealREST.address != nil, "Tests/run --all starts the server."),
  .serialized, .timeLimit(.minutes(30)))
struct RESTMirrorTests {
  static let marked = #","deleted":"/deleted""#

  /// A mirror of some types, with its requests counted.
  struct Mirror: Sendable {
    let store = InMemoryStore()
    let transport = CountingTransport()
    let engine: SyncEngine

    init(
      _ api: RESTAPI, pageSize: Int, clock: any SyncPorts.Clock<Duration> = ContinuousClock(),
      transport other: (any HTTPTransport)? = nil, pushes: Bool = false
    ) async throws {
      var options = RESTSource.Options()
      options.deadline = .seconds(3600)
      let source = try RESTSource(api, options: options, transport: other ?? transport, clock: clock)
      engine = try await SyncEngine(
        schema: api.schema, store: store, source: source, sink: pushes ? RESTSink(source) : nil, clock: clock,
        options: SyncOptions(
          pageSize: pageSize, retry: RetryPolicy(attempts: 8), deletionCheckInterval: .zero,
          massDeletionShare: 1, emptyListingRecords: 100_000))
    }

    func records(_ type: RecordType) -> [String: String] {
      Dictionary(
        uniqueKeysWithValues: store.records(of: type).map {
          ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
        })
    }
  }

  @Test(.enabled(if: Baseball.isPresent, "The shared data are absent."))
  func realDataComeWholeInEveryStyleAndThenOnlyWhatChanged() async throws {
    let realm = try RealREST()
    var listed: [String: [String: String]] = [:]
    for type in Baseball.types {
      try await realm.load(type, try Baseball.objects(type))
      listed[type] = try await realm.listing(type)
    }
    let wanted = listed
    #expect(try #require(wanted["games"]).count > 20_000)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for style in RealREST.Style.allCases {
        group.addTask {
          for pageSize in [90, 700, 5000] { try await expectMirror(of: realm, wanted, style, pageSize) }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Mirrors all types, and then what has changed, which is nothing.
  private func expectMirror(
    of realm: RealREST, _ listed: [String: [String: String]], _ style: RealREST.Style, _ pageSize: Int
  ) async throws {
    let mirror = try await Mirror(realm.api(style, Baseball.types, Self.marked), pageSize: pageSize)
    let result = try await mirror.engine.sync()
    #expect(result.failures.isEmpty)
    for type in Baseball.types {
      #expect(mirror.records(RecordType(type)) == listed[type], "\(style), \(pageSize)")
    }
    // Requests for pages, an empty last one, and one that shows that nothing moved.
    let records = listed.values.map(\.count).max() ?? 0
    #expect(mirror.transport.requests.count <= Baseball.types.count * 3 + records / (pageSize - 1) + 3)
    guard pageSize == 5000 else { return }
    // Once the overlap is over, a run is one request for each type.
    var requests = 0
    for _ in 0..<50 {
      mirror.transport.reset()
      let again = try await mirror.engine.sync()
      #expect(again.total.inserted + again.total.updated + again.total.deleted == 0)
      requests = mirror.transport.requests.count
      if requests == Baseball.types.count, again.total.fetched == 0 { break }
      try await ContinuousClock().sleep(for: .milliseconds(300))
    }
    #expect(requests == Baseball.types.count, "\(style)")
  }

  @Test func smallListsAreAskedForOnACondition() async throws {
    let realm = try RealREST()
    try await realm.load("flags", (0..<30).map { ("f\($0)", #"{"id":"f\#($0)","value":0}"#) })
    var flags = RESTAPI.Collection(Entity("flags"), path: "flags/")
    flags.records = "/results"
    flags.delta = .etag
    flags.total = "/count"
    let api = RESTAPI(base: "\(realm.server)/page/", credentials: RealREST.credentials, collections: [flags])
    let mirror = try await Mirror(api, pageSize: 100)
    for round in 0..<3 {
      let result = try await mirror.engine.sync()
      #expect(result.total.fetched == (round == 0 ? 30 : 0))
    }
    #expect(mirror.transport.requests.count == 3)
    try await realm.delete("flags", "f3")
    try await realm.put("flags", "f4", "\"value\":4")
    for _ in 0..<2 { _ = try await mirror.engine.sync() }
    #expect(try await mirror.records("flags") == realm.listing("flags"))
  }

  @Test func theCredentialsAreNeeded() async throws {
    let realm = try RealREST()
    var api = try realm.api(.page, ["items"])
    for credentials in [nil, HTTPCredentials.header("Authorization", .text("Token wrong"))] {
      api.credentials = credentials
      let mirror = try await Mirror(api, pageSize: 100)
      let error = await #expect(throws: SyncError.self) { _ = try await mirror.engine.sync() }
      #expect(error?.code == .authentication)
      #expect(error?.description.contains("wrong") == false)
    }
  }

  @Test func theServersPausesAreKept() async throws {
    let realm = try RealREST()
    try await realm.load("items", (0..<20).map { ("k\($0)", #"{"id":"k\#($0)"}"#) })
    var api = try realm.api(.cursor, ["items"])
    api.base = "\(realm.server)/throttled/"
    let mirror = try await Mirror(api, pageSize: 1)
    let start = ContinuousClock.now
    let result = try await mirror.engine.sync()
    #expect(result.failures.isEmpty)
    #expect(mirror.records("items").count == 20)
    // Eight requests a second.
    #expect(start.duration(to: .now) > .seconds(1))
  }

  @Test func aHundredThousandRecordsTakeFewMoreRequestsThanPages() async throws {
    let realm = try RealREST()
    let count = Seeds.isSoak ? 100_000 : 5000
    try await realm.load("items", (0..<count).map { ("k\($0)", #"{"id":"k\#($0)","value":\#($0)}"#) })
    for style in RealREST.Style.allCases {
      let mirror = try await Mirror(realm.api(style, ["items"], Self.marked), pageSize: 250)
      _ = try await mirror.engine.sync()
      #expect(mirror.store.records(of: "items").count == count)
      #expect(mirror.transport.requests.count * 10 <= count / 250 * 13)
    }
  }
}
