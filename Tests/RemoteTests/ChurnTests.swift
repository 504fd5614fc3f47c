import CanonicalSync
import CanonicalSyncTestServers
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

#if CloudKit && os(Linux)
  @testable import CloudKitAdapters
#endif

/// Other clients change a remote while its pages are listed, at each kind of remote.
@Suite("Changes during the pages", .serialized, .timeLimit(.minutes(60)))
struct ChurnTests {
  /// The records at first, the changes, and how many come before one request.
  private struct Load {
    var records: Int
    var changes: Int
    var portion: Int
    var pageSize: Int
    var deletes = true
  }

  /// Syncs while others write, and a few times more once they have stopped.
  private static func churn(
    _ remote: TriedRemote, seed: UInt64, _ load: Load
  ) async throws -> TriedRemote.Mirror {
    let keys = (0..<load.records).map { "k\($0)" }
    try await remote.write(keys.map { ($0, 0) })
    let busy = BusyTransport(
      remote.transport, seed: seed, keys: keys, changes: load.changes, portion: load.portion,
      deletes: load.deletes, write: remote.write)
    let mirror = try await TriedRemote.Mirror(remote, pageSize: load.pageSize, over: busy)
    repeat {
      _ = try await remote.sync(mirror.engine)
      remote.pass()
    } while !busy.isDone
    remote.settle()
    for _ in 0..<remote.lastSyncs {
      let result = try await remote.sync(mirror.engine)
      #expect(result.failures.isEmpty && result.refusedSweeps.isEmpty, "seed \(seed)")
    }
    return mirror
  }

  private static func expectEqual(_ remote: TriedRemote, seed: UInt64, _ load: Load) async throws {
    let mirror = try await churn(remote, seed: seed, load)
    try await remote.expectEqual(mirror, "seed \(seed)")
  }

  private static let thousand = Load(records: 400, changes: 1000, portion: 25, pageSize: 20)

  @Test(arguments: KintoKind.trials)
  func endEqualAtKinto(_ trial: KintoKind.Trial) async throws {
    try await TriedRemote.withKinto(trial.kind, seed: trial.seed) {
      try await Self.expectEqual($0, seed: trial.seed, Self.thousand)
    }
  }

  @Test(
    .enabled(if: RealREST.address != nil, "Tests/run --all starts the server."),
    arguments: RealREST.Style.allCases, 1...20 as ClosedRange<UInt64>)
  func endEqualAtAJSONAPI(_ style: RealREST.Style, _ seed: UInt64) async throws {
    // A tenth of the requests fail for half of the seeds.
    try await TriedRemote.withREST(
      style, seed: seed, faults: seed % 4 < 2 ? 0.1 : 0, forgets: seed.isMultiple(of: 2)
    ) {
      try await Self.expectEqual($0, seed: seed, Load(records: 90, changes: 30, portion: 2, pageSize: 10))
    }
  }

  @Test(arguments: FakeREST.styles)
  func endEqualAtAJSONAPIOfEachStyle(_ style: FakeREST.Style) async throws {
    for seed in 1...UInt64(20) {
      let remote = TriedRemote.restInMemory(style, seed: seed, faults: seed % 4 < 2 ? 0.1 : 0)
      try await Self.expectEqual(
        remote, seed: seed, Load(records: 30, changes: 24, portion: 3, pageSize: 6))
    }
  }

  #if CloudKit && os(Linux)
    private static let seeds = 1...UInt64(Seeds.isSoak ? 200 : 20)

    /// A service whose indexes lag behind its writers.
    private static func lagging(
      _ kind: CloudKitBench.Kind, seed: UInt64, sweeps: Bool
    ) throws -> TriedRemote {
      var random = SplitMix64(seed: seed)
      return try .cloudKit(kind, sweepEvery: sweeps ? .seconds(600) : nil, restsFor: .seconds(700)) {
        $0.seed = seed
        $0.indexLag = .seconds(40)
        $0.granularity = [1, 1000, 10_000].randomElement(using: &random) ?? 1
        $0.showsOldContent = Bool.random(using: &random)
        $0.countsByOffset = Bool.random(using: &random)
        $0.hasShortPages = Bool.random(using: &random)
        $0.tombstonesHaveType = Bool.random(using: &random)
        $0.filterOmitsTombstones = Bool.random(using: &random)
      }
    }

    @Test(arguments: seeds, CloudKitBench.Kind.allCases)
    func endEqualAtCloudKit(_ seed: UInt64, _ kind: CloudKitBench.Kind) async throws {
      let remote = try Self.lagging(kind, seed: seed, sweeps: true)
      try await Self.expectEqual(remote, seed: seed, Self.thousand)
      remote.check()
    }

    @Test(arguments: seeds)
    func endEqualAtCloudKitWithoutASweepWhereNothingIsDeleted(_ seed: UInt64) async throws {
      var load = Self.thousand
      load.deletes = false
      try await Self.expectEqual(
        try Self.lagging(.publicDatabase, seed: seed, sweeps: false), seed: seed, load)
    }

    /// The mistake that most hand-written syncs make.
    @Test func showThatTheGreatestTimeOfAPageIsNoWatermark() async throws {
      var load = Self.thousand
      load.deletes = false
      var differing = 0
      for seed in 1...6 as ClosedRange<UInt64> {
        var remote = try Self.lagging(.publicDatabase, seed: seed, sweeps: false)
        let source = remote.source
        remote.source = { NaiveWatermark(base: try source($0)) }
        let mirror = try await Self.churn(remote, seed: seed, load)
        if try await mirror.records != remote.records() { differing += 1 }
      }
      #expect(differing > 3, "\(differing)")
    }
  #endif
}

#if CloudKit && os(Linux)
  /// Starts the next delta after the greatest modification time that it has listed.
  private final class NaiveWatermark: ForwardingSource {
    let base: any RemoteRecordSource
    private let greatest = Mutex<Int64>(0)

    init(base: any RemoteRecordSource) { self.base = base }

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
  }
#endif
