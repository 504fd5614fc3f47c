#if CloudKit && os(Linux)
  @testable import CloudKitAdapters
  import CanonicalSync
  import CanonicalSyncTestServers
  import HTTPAdapters
  import InMemoryAdapters
  import Synchronization
  import Testing

  /// Writers that are active while a mirror lists, and indexes that lag behind them.
  @Suite("A thousand changes during CloudKit's pages", .timeLimit(.minutes(20)))
  struct ChurnTests {
    private static let seeds = 1...UInt64(Seeds.isSoak ? 200 : 20)

    @Test(arguments: seeds, CloudKitBench.Kind.allCases)
    func endEqualAfterOneMoreRun(_ seed: UInt64, _ kind: CloudKitBench.Kind) async throws {
      let mirror = try await Self.churn(seed, kind, sweeps: true) { $0 }
      try mirror.expectEqual("items", "seed \(seed)")
      #expect(mirror.bench.service.violation == nil)
    }

    @Test(arguments: seeds)
    func endEqualWithoutASweepWhereNothingIsDeleted(_ seed: UInt64) async throws {
      let mirror = try await Self.churn(seed, .publicDatabase, sweeps: false) { $0 }
      try mirror.expectEqual("items", "seed \(seed)")
    }

    /// The mistake that most hand-written syncs make.
    @Test func showThatTheGreatestTimeOfAPageIsNoWatermark() async throws {
      var differing = 0
      for seed in 1...6 as ClosedRange<UInt64> {
        let mirror = try await Self.churn(seed, .publicDatabase, sweeps: false) { NaiveWatermark(base: $0) }
        if try mirror.payloads("items") != mirror.wanted("items") { differing += 1 }
      }
      #expect(differing > 3, "\(differing)")
    }

    private static func churn(
      _ seed: UInt64, _ kind: CloudKitBench.Kind, sweeps: Bool,
      wrap: (CloudKitSource) -> any RemoteRecordSource
    ) async throws -> CloudKitMirror {
      var random = SplitMix64(seed: seed)
      var type = CloudKitType("Item")
      type.sweepEvery = sweeps ? .seconds(600) : nil
      let bench = try CloudKitBench(kind, types: ["items": type]) { settings in
        settings.seed = seed
        settings.indexLag = .seconds(40)
        settings.granularity = [1, 1000, 10_000].randomElement(using: &random) ?? 1
        settings.showsOldContent = Bool.random(using: &random)
        settings.countsByOffset = Bool.random(using: &random)
        settings.hasShortPages = Bool.random(using: &random)
        settings.tombstonesHaveType = Bool.random(using: &random)
        settings.filterOmitsTombstones = Bool.random(using: &random)
      }
      for start in 0..<4 {
        bench.service.put(
          (0..<100).map { ("k\(start * 100 + $0)", [("value", StandInField("0", "INT64"))]) }, type: "Item",
          in: bench.place.database, zone: bench.place.zone)
        bench.clock.advance(by: .seconds(Int.random(in: 0...60, using: &random)))
      }
      bench.clock.advance(by: .seconds(Int.random(in: 0...200, using: &random)))
      let place = bench.place
      let busy = BusyService(bench, seed: seed, keys: (0..<400).map { "k\($0)" }, deletes: sweeps) {
        key, value in
        let fields = [("value", StandInField("\(value)", "INT64"))]
        bench.service.put([(key, fields)], type: "Item", in: place.database, zone: place.zone)
      }
      let mirror = try await CloudKitMirror(bench, pageSize: 20, transport: busy, wrap: wrap)
      try await mirror.sync(through: busy)
      return mirror
    }
  }

  /// Starts the next delta after the greatest modification time that it has listed.
  private final class NaiveWatermark: RemoteRecordSource {
    let base: CloudKitSource
    private let greatest = Mutex<Int64>(0)

    init(base: CloudKitSource) { self.base = base }

    var identity: String { base.identity }
    var capabilities: SourceCapabilities { base.capabilities }

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      var page = try await base.page(request)
      let times = page.changes.compactMap { change -> Int64? in
        guard case .upsert(let record) = change else { return nil }
        return record.version.modifiedAt.microseconds / 1000
      }
      let mark = greatest.withLock { greatest in
        greatest = max(greatest, times.max() ?? 0)
        return greatest
      }
      page.startToken = nil
      if case .done = page.next { page.next = .done(QueryToken(since: mark + 1, swept: 0).syncToken) }
      return page
    }

    func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
      try await base.lookup(ids, of: entity)
    }
  }
#endif
