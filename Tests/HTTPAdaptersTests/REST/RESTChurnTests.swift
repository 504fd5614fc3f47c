import CanonicalSync
import HTTPAdapters
import InMemoryAdapters
import SyncJSON
import Synchronization
import Testing

/// Writers that are active while a JSON API is listed, in every style.
@Suite("Changes during the pages of a JSON API", .timeLimit(.minutes(10)))
struct RESTChurnTests {
  /// Changes records before each further page, and fails some requests, by a seed.
  private final class Weather: Sendable {
    private struct State {
      var generator: SplitMix64
      var changes: Int
      var next = 30
      var faults: Double
    }
    private let state: Mutex<State>

    init(seed: UInt64, changes: Int, faults: Double) {
      state = Mutex(State(generator: SplitMix64(seed: seed), changes: changes, faults: faults))
    }

    var isCalm: Bool { state.withLock { $0.changes == 0 } }

    func calmDown() { state.withLock { $0.faults = 0 } }

    /// Changes some records, and returns a failure for some requests.
    func strike(_ api: FakeREST) -> HTTPResponse? {
      let (edits, fails) = state.withLock { state in
        var edits: [(key: Int, value: Int?)] = []
        for _ in 0..<min(3, state.changes) {
          state.changes -= 1
          let fate = Int.random(in: 0..<4, using: &state.generator)
          if fate == 0 { state.next += 1 }
          let key = fate == 0 ? state.next : Int.random(in: 0..<state.next, using: &state.generator)
          edits.append((key, fate == 1 ? nil : Int.random(in: 1...999, using: &state.generator)))
        }
        return (edits, Double.random(in: 0..<1, using: &state.generator) < state.faults)
      }
      for edit in edits { api.put("k\(edit.key)", edit.value) }
      return fails ? HTTPResponse(status: 503) : nil
    }
  }

  @Test(arguments: RESTConformanceTests.styles)
  func endEqualOnceTheyStop(_ style: RESTConformanceTests.Style) async throws {
    for seed in 1...UInt64(20) {
      // Half of the APIs forget what was deleted.
      let api = FakeREST(keepsDeleted: seed.isMultiple(of: 2))
      for number in 0..<30 { api.put("k\(number)", 0) }
      api.pass(60_000)
      // A tenth of the requests fail for half of the seeds.
      let weather = Weather(seed: seed, changes: 24, faults: seed % 4 < 2 ? 0.1 : 0)
      api.onRequest { _ in weather.strike(api) }
      var items = RESTConformanceTests.collection(style)
      if !api.keepsDeleted {
        items.deleted = nil
        items.total = "/meta/total"
      }
      if seed.isMultiple(of: 3) { items.item = nil }
      let store = InMemoryStore()
      let engine = try await SyncEngine(
        schema: try SyncSchema(items.entity), store: store,
        source: try RESTSource(RESTAPI(base: FakeREST.base, collections: [items]), transport: api),
        options: SyncOptions(
          pageSize: 6, retry: RetryPolicy(attempts: 8, base: .microseconds(100), cap: .milliseconds(1)),
          deletionCheckInterval: .zero, massDeletionShare: 1, emptyListingRecords: 1000))
      for _ in 0..<3 { _ = try await engine.sync() }
      while !weather.isCalm { _ = try await engine.sync() }
      weather.calmDown()
      api.pass(60_000)
      // One sync lists what was in doubt, and the next one confirms what was missing.
      for _ in 0..<3 {
        let result = try await engine.sync()
        #expect(result.failures.isEmpty, "seed \(seed)")
      }
      let mirrored = Dictionary(
        uniqueKeysWithValues: store.records(of: "items").map {
          ($0.id.key, String(decoding: $0.payload.bytes, as: UTF8.self))
        })
      #expect(mirrored == api.live, "seed \(seed)")
    }
  }
}
