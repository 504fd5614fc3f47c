import CanonicalSync
import CanonicalSyncTestExecutors
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("Pages that arrived together", .timeLimit(.minutes(10)))
struct AwaitedCommitTests {
  private static let pages = 12

  /// Syncs pages of one record each, over a store whose writes take long.
  private func sync(_ store: QueuedStore) async throws -> (events: [SyncEvent], failure: SyncError?) {
    let clock = ManualClock()
    let remote = InMemoryRemote(clock: clock)
    for number in 1...Self.pages { remote.upsert("teams", "t\(number)", "{}") }
    let recorder = EventRecorder()
    let engine = try await SyncEngine(
      schema: SyncSchema(Entity("teams")), store: store, source: remote, clock: clock,
      options: SyncOptions(pageSize: 1, pagesAhead: 10), observers: [recorder], random: RepeatedNumber())
    do {
      #expect(try await engine.sync()["teams"].inserted == Self.pages)
      return (recorder.events, nil)
    } catch {
      return (recorder.events, error)
    }
  }

  @Test func shareATransaction() async throws {
    let store = QueuedStore(shouldCommit: false)
    try await OneThread.run { _ = try await sync(store) }
    #expect(store.pages.max() ?? 0 > 1)
  }

  @Test func areCommittedOneByOneWhileAnotherWriteWaits() async throws {
    let store = QueuedStore(shouldCommit: true)
    try await OneThread.run { _ = try await sync(store) }
    // The sync's last pages are in its last transaction.
    #expect(store.pages.dropLast().allSatisfy { $0 == 1 }, "\(store.pages)")
    #expect(store.pages.count > 1)
    #expect(store.pages.reduce(0, +) == Self.pages)
  }

  @Test(arguments: 2...6)
  func areReportedIfTheyWereCommittedBeforeAFailure(_ write: Int) async throws {
    let store = QueuedStore(shouldCommit: true, failsAt: write)
    let (events, failure) = try await OneThread.run { try await sync(store) }
    #expect(failure?.code == .storeFull)
    let reported = events.reduce(0) { sum, event in
      guard case .pageCommitted(let page) = event else { return sum }
      return sum + page.counts.inserted
    }
    #expect(reported == store.base.records(of: "teams").count)
    #expect(reported == write - 1)
  }
}

/// A store whose writes take long, and that says whether others wait for them.
private final class QueuedStore: ForwardingStore {
  let base = InMemoryStore()
  private let shouldCommit: Bool
  private let limit: Int
  private let numbers = Mutex<[Int]>([])

  init(shouldCommit: Bool, failsAt limit: Int = .max) {
    self.shouldCommit = shouldCommit
    self.limit = limit
  }

  /// The number of pages in each transaction with pages.
  var pages: [Int] { numbers.withLock { $0 } }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    // The source prepares pages meanwhile.
    for _ in 0..<200 { await Task.yield() }
    let (shouldCommit, limit, done) = (shouldCommit, limit, pages.count)
    let (result, pages) = try await base.write(authority) { (transaction) throws(SyncError) in
      let queued = QueuedTransaction(transaction, shouldCommit: shouldCommit)
      let result = try body(queued)
      if queued.pages > 0, done + 1 >= limit { throw SyncError(.storeFull, during: "writing") }
      return (result, queued.pages)
    }
    if pages > 0 { numbers.withLock { $0.append(pages) } }
    return result
  }
}

private final class QueuedTransaction: ForwardingTransaction {
  let base: any StoreTransaction
  let shouldCommit: Bool
  private(set) var pages = 0

  init(_ base: any StoreTransaction, shouldCommit: Bool) {
    self.base = base
    self.shouldCommit = shouldCommit
  }

  func apply(_ changes: StoreChanges) throws(SyncError) {
    if !changes.put.isEmpty { pages += 1 }
    try base.apply(changes)
  }
}
