import CanonicalSync
import CanonicalSyncTestServers
import HTTPAdapters
import InMemoryAdapters
import Synchronization
import Testing

/// Writers that are active while a mirror lists.
@Suite(
  "A thousand changes during the pages",
  .enabled(if: RealKinto.address != nil, "Tests/run starts the server."),
  .serialized, .timeLimit(.minutes(30)))
struct ChurnTests {
  @Test(arguments: Seeds.all)
  func endEqualAfterOneMoreRun(_ seed: UInt64) async throws {
    try await Self.run(seed, at: RealKinto.address)
  }

  /// Fills a collection, and changes it a thousand times while it is listed.
  ///
  /// Then it compares after one more run.
  static func run(_ seed: UInt64, at address: String?) async throws {
    let kinto = try await RealKinto(["items"], at: address)
    try await kinto.load("items", (0..<400).map { ("k\($0)", #"{"value":0}"#) })
    let transport = BusyServer(kinto, seed: seed, changes: 1000)
    var options = KintoSource.Options()
    options.allowsPlainHTTP = true
    let source = try KintoSource(
      server: kinto.server, bucket: kinto.bucket, credentials: RealKinto.credentials, options: options,
      transport: transport)
    let store = InMemoryStore()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("items")), store: store, source: source,
      options: SyncOptions(pageSize: 20))
    let first = try await engine.sync()
    #expect(transport.isDone, "All changes were made during the pages.")
    #expect(first.failures.isEmpty)
    let second = try await engine.sync()
    #expect(second.failures.isEmpty)
    let mirrored = Dictionary(
      uniqueKeysWithValues: store.records(of: "items").map {
        ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
      })
    #expect(try await mirrored == kinto.listing("items"))
  }
}

/// Makes some of the changes at the server before each further page.
private final class BusyServer: HTTPTransport {
  private struct State {
    var generator: SplitMix64
    var changes: Int
    var next = 400
  }
  private let kinto: RealKinto
  private let state: Mutex<State>
  private static let batch = 25

  init(_ kinto: RealKinto, seed: UInt64, changes: Int) {
    self.kinto = kinto
    state = Mutex(State(generator: SplitMix64(seed: seed), changes: changes))
  }

  var isDone: Bool { state.withLock { $0.changes == 0 } }

  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    if request.address.query?.contains("_token=") == true, let changes = nextBatch() {
      do {
        try await kinto.send(
          "POST", "/batch", "{\"requests\":[\(changes.joined(separator: ","))]}", in: kinto.server)
      } catch {
        throw SyncError(.inconsistentData, during: "changing records", underlying: error)
      }
    }
    return try await kinto.transport.send(request)
  }

  private func nextBatch() -> [String]? {
    state.withLock { state in
      guard state.changes > 0 else { return nil }
      let count = min(Self.batch, state.changes)
      state.changes -= count
      return (0..<count).map { _ in
        let fate = Int.random(in: 0..<4, using: &state.generator)
        if fate == 0 { state.next += 1 }
        let key = fate == 0 ? state.next : Int.random(in: 0..<state.next, using: &state.generator)
        let path = "/v1/buckets/\(kinto.bucket)/collections/items/records/k\(key)"
        if fate == 1 { return #"{"method":"DELETE","path":"\#(path)"}"# }
        let value = Int.random(in: 1...1_000_000, using: &state.generator)
        return #"{"method":"PUT","path":"\#(path)","body":{"data":{"value":\#(value)}}}"#
      }
    }
  }
}
