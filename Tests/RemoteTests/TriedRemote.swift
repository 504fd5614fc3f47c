import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import KintoAdapters
import SyncJSON
import Synchronization
import Testing

/// A remote with items, as the suites try it: how it is mirrored, and what others do to it.
struct TriedRemote: Sendable {
  var transport: any HTTPTransport
  /// Opens the remote over a transport.
  var source: @Sendable (any HTTPTransport) throws -> any RemoteRecordSource
  /// The sink of a source, for remotes that take the mirror's edits during faults.
  var sink: @Sendable (any RemoteRecordSource) -> (any RemoteRecordSink)? = { _ in nil }
  var clock: any SyncPorts.Clock<Duration> = ContinuousClock()
  var retry = RetryPolicy(attempts: 8)
  /// Writes records as another client.
  var write: @Sendable ([BusyTransport.Change]) async throws -> Void
  /// The payloads that a mirror has to have, by key.
  var records: @Sendable () async throws -> [String: String]
  /// Syncs once.
  var sync: @Sendable (SyncEngine) async throws -> SyncResult = { try await $0.sync() }
  /// Lets time pass between two syncs of a busy remote.
  var pass: @Sendable () -> Void = {}
  /// Ends all faults, and lets the remote show all that was written.
  var settle: @Sendable () -> Void = {}
  /// The syncs that a settled remote takes, at most, until its mirror is equal.
  var lastSyncs = 1
  /// Checks the requests of the last sync against the promises.
  var check: @Sendable () -> Void = {}

  /// A store in memory that mirrors the remote.
  struct Mirror: Sendable {
    let store = InMemoryStore()
    let engine: SyncEngine

    init(
      _ remote: TriedRemote, pageSize: Int, over transport: (any HTTPTransport)? = nil,
      observers: [any SyncObserver] = []
    ) async throws {
      let source = try remote.source(transport ?? remote.transport)
      engine = try await SyncEngine(
        schema: SyncSchema(Entity("items")), store: store, source: source, sink: remote.sink(source),
        clock: remote.clock,
        options: SyncOptions(
          pageSize: pageSize, retry: remote.retry, leaseDuration: .seconds(360_000),
          deletionCheckInterval: .zero, massDeletionShare: 1, emptyListingRecords: 100_000),
        observers: observers)
    }

    var records: [String: String] {
      Dictionary(
        uniqueKeysWithValues: store.records(of: "items").map {
          ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
        })
    }
  }

  /// Checks that a mirror equals the remote.
  func expectEqual(_ mirror: Mirror, _ comment: Comment? = nil) async throws {
    let (mine, theirs) = (mirror.records, try await records())
    #expect(Set(mine.keys).union(theirs.keys).filter { mine[$0] != theirs[$0] } == [], comment)
  }
}

// MARK: Servers that Tests/run starts

extension TriedRemote {
  /// Runs a body with a new bucket, behind a proxy with faults.
  static func withKinto(
    _ kind: KintoKind = .kinto, seed: UInt64, faults: Double = 0, _ body: (TriedRemote) async throws -> Void
  ) async throws {
    try await kind.with(["items"]) { try await with($0, seed: seed, faults: faults, body) }
  }

  private static func with(
    _ kinto: RealKinto, seed: UInt64, faults: Double, _ body: (TriedRemote) async throws -> Void
  ) async throws {
    try await withProxy(kinto.server, seed, faults) { proxy, clock in
      var options = KintoSource.Options()
      options.allowsPlainHTTP = true
      options.deadline = deadline
      var remote = TriedRemote(
        transport: TestTransport.make(clock: clock),
        source: { [options] transport in
          try KintoSource(
            server: proxy.address, bucket: kinto.bucket, credentials: RealKinto.credentials, options: options,
            transport: transport, clock: clock)
        },
        write: { try await kinto.change("items", $0) }, records: { try await kinto.listing("items") })
      remote.watch(proxy, clock, attempts: 6)
      try await body(remote)
    }
  }

  /// Runs a body with a new realm of a JSON API, behind a proxy with faults.
  ///
  /// - Parameter forgets: Whether deleted records leave no mark.
  static func withREST(
    _ style: RealREST.Style, seed: UInt64, faults: Double = 0, forgets: Bool = false,
    _ body: (TriedRemote) async throws -> Void
  ) async throws {
    let realm = try RealREST(forgets: forgets)
    try await withProxy(try #require(RealREST.address), seed, faults) { proxy, clock in
      let api = try realm.api(
        style, ["items"], through: proxy.address, forgets ? "" : RESTMirrorTests.marked)
      var options = RESTSource.Options()
      options.deadline = deadline
      var remote = TriedRemote(
        transport: TestTransport.make(clock: clock),
        source: { [options] in try RESTSource(api, options: options, transport: $0, clock: clock) },
        write: { try await realm.change("items", $0) }, records: { try await realm.listing("items") })
      // One sync lists what was in doubt, and the next one confirms what was missing.
      remote.lastSyncs = 3
      remote.watch(proxy, clock, attempts: 8)
      try await body(remote)
    }
  }

  /// A late answer is awaited, however busy the machine is. Only one that never comes meets its
  /// deadline.
  private static let deadline = Duration.seconds(3600)

  private static func withProxy(
    _ server: String, _ seed: UInt64, _ faults: Double,
    _ body: (FaultProxy, FastClock) async throws -> Void
  ) async throws {
    let clock = FastClock(factor: 20)
    try await FaultProxy.with(server: server, seed: seed, share: faults, onStall: { clock.skip(deadline) }) {
      try await body($0, clock)
    }
  }

  /// Checks each sync's requests: none too often, and none during a pause.
  private mutating func watch(_ proxy: FaultProxy, _ clock: FastClock, attempts: Int) {
    let seen = Seen()
    self.clock = clock
    retry = RetryPolicy(attempts: attempts)
    settle = { proxy.stopSpoiling() }
    check = {
      let entries = Array(proxy.entries[seen.count...])
      seen.count += entries.count
      for (target, requests) in Dictionary(grouping: entries, by: \.target) {
        #expect(requests.count <= attempts, "\(target)")
      }
      for (refused, next) in zip(entries, entries.dropFirst()) {
        guard let told = refused.refused else { continue }
        let waited = told.duration(to: next.arrived) * clock.factor
        #expect(waited >= FaultProxy.retryAfter, "after \(refused.target)")
      }
    }
  }
}

/// The number of requests that were checked.
private final class Seen: Sendable {
  private let number = Mutex(0)
  var count: Int {
    get { number.withLock { $0 } }
    set { number.withLock { $0 = newValue } }
  }
}

extension RealKinto {
  /// Makes changes in one batch.
  fileprivate func change(_ collection: String, _ changes: [BusyTransport.Change]) async throws {
    for start in stride(from: 0, to: changes.count, by: 200) {
      let requests = changes[start..<min(start + 200, changes.count)].map { key, value in
        let path = "/v1/buckets/\(bucket)/collections/\(collection)/records/\(key)"
        guard let value else { return #"{"method":"DELETE","path":"\#(path)"}"# }
        return #"{"method":"PUT","path":"\#(path)","body":{"data":{"value":\#(value)}}}"#
      }
      try await send("POST", "/batch", "{\"requests\":[\(requests.joined(separator: ","))]}", in: server)
    }
  }
}

extension RealREST {
  /// Makes changes, each with a request of its own if they are few.
  fileprivate func change(_ type: String, _ changes: [BusyTransport.Change]) async throws {
    guard changes.count < 50 else {
      return try await load(type, changes.map { ($0.key, #"{"id":"\#($0.key)","value":\#($0.value ?? 0)}"#) })
    }
    for (key, value) in changes {
      if let value { try await put(type, key, "\"value\":\(value)") } else { try await delete(type, key) }
    }
  }
}

// MARK: Remotes in memory

extension TriedRemote {
  /// A JSON API in memory.
  ///
  /// - Parameter faults: The share of requests that fail until the remote is settled.
  static func restInMemory(_ style: FakeREST.Style, seed: UInt64, faults: Double) -> TriedRemote {
    // Half of the APIs forget what was deleted.
    let api = FakeREST(keepsDeleted: seed.isMultiple(of: 2))
    let weather = Weather(seed: seed, faults: faults)
    api.onRequest { _ in weather.strikes() ? HTTPResponse(status: 503) : nil }
    var items = FakeREST.collection(style)
    if !api.keepsDeleted {
      items.deleted = nil
      items.total = "/meta/total"
    }
    if seed.isMultiple(of: 3) { items.item = nil }
    return TriedRemote(
      transport: api,
      source: { [items] in
        try RESTSource(RESTAPI(base: FakeREST.base, collections: [items]), transport: $0)
      },
      retry: RetryPolicy(attempts: 8, base: .microseconds(100), cap: .milliseconds(1)),
      write: { for change in $0 { api.put(change.key, change.value) } }, records: { api.live },
      settle: {
        weather.calmDown()
        api.pass(60_000)
      }, lastSyncs: 3)
  }
}

/// Decides which requests fail.
private final class Weather: Sendable {
  private let state: Mutex<(random: SplitMix64, faults: Double)>

  init(seed: UInt64, faults: Double) { state = Mutex((SplitMix64(seed: seed), faults)) }

  func strikes() -> Bool {
    state.withLock { Double.random(in: 0..<1, using: &$0.random) < $0.faults }
  }
  func calmDown() { state.withLock { $0.faults = 0 } }
}
