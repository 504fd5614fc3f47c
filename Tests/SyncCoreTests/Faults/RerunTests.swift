import CanonicalSync
import CanonicalSyncTestExecutors
import InMemoryAdapters
import Synchronization
import Testing

/// Scenarios have the same result over a store that runs each body twice.
@Suite("Bodies of transactions that run more than once", .timeLimit(.minutes(10)))
struct RerunTests {
  @Test(arguments: RerunStory.allCases)
  func haveNoEffectOutside(_ story: RerunStory) async throws {
    // On one thread, concurrent types take turns in the same order each time.
    let once = try await OneThread.run { try await story.outcome { $0 } }
    let twice = try await OneThread.run { try await story.outcome { RerunningStore($0) } }
    let told = (once.results + once.events + once.contents).joined(separator: "\n")
    #expect(told.contains(story.sign))
    #expect(twice.results == once.results)
    #expect(twice.events == once.events)
    #expect(twice.contents == once.contents)
  }

  @Test func areRunTwice() async throws {
    let store = RerunningStore(InMemoryStore())
    let runs = RunCounter()
    try await store.write(.app) { (transaction) throws(SyncError) in
      runs.count()
      try transaction.setValue([1], forKey: "k")
    }
    #expect(runs.total == 2)
    #expect(try await store.read { (snapshot) throws(SyncError) in try snapshot.value(forKey: "k") } == [1])
  }

  @Test func failAsTheirSecondRunDoes() async throws {
    let store = RerunningStore(InMemoryStore())
    let runs = RunCounter()
    await #expect {
      try await store.write(.app) { (transaction) throws(SyncError) in
        runs.count()
        throw SyncError(runs.total == 1 ? .storeFull : .inconsistentData, during: "checking")
      }
    } throws: {
      ($0 as? SyncError)?.code == .inconsistentData
    }
  }
}

/// Counts the runs of a body.
private final class RunCounter: Sendable {
  private let number = Mutex(0)

  var total: Int { number.withLock { $0 } }

  func count() { number.withLock { $0 += 1 } }
}
