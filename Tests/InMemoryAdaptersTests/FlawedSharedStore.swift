import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts
import Synchronization

/// A handle of a store with marks of its commits, which breaks one promise.
final class FlawedSharedStore: ForwardingStore, SharedStore {
  enum Flaw: String, CaseIterable, Sendable {
    case changesWithEachMark, countsNothingOfItsOwn, hearsNoOthers, takesOthersForItself
    case endsNoWait, endsEachWait

    /// The check that detects the flaw.
    var check: SharedStoreCheck {
      switch self {
      case .changesWithEachMark: .markStaysWithoutCommits
      case .countsNothingOfItsOwn: .ownCommitChangesOwnNumber
      case .hearsNoOthers, .takesOthersForItself: .commitOfOthersChangesTheirNumber
      case .endsNoWait: .commitEndsAWait
      case .endsEachWait: .cancelledWaitEnds
      }
    }
  }

  /// The number of commits through all handles.
  final class Commits: Sendable {
    fileprivate let count = Atomic<Int64>(0)
  }

  let base: InMemoryStore
  private let flaw: Flaw
  private let all: Commits
  private let own = Atomic<Int64>(0)
  private let marks = Atomic<Int64>(0)

  init(_ flaw: Flaw, _ base: InMemoryStore, _ all: Commits) {
    (self.flaw, self.base, self.all) = (flaw, base, all)
  }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let result = try await base.write(authority, body)
    own.add(1, ordering: .relaxed)
    all.count.add(1, ordering: .relaxed)
    return result
  }

  func commitMark() async throws(SyncError) -> CommitMark {
    let (own, all) = (own.load(ordering: .relaxed), all.count.load(ordering: .relaxed))
    switch flaw {
    case .changesWithEachMark:
      return CommitMark(own: marks.add(1, ordering: .relaxed).newValue, others: all - own)
    case .countsNothingOfItsOwn: return CommitMark(own: 0, others: all - own)
    case .hearsNoOthers: return CommitMark(own: own, others: 0)
    case .takesOthersForItself: return CommitMark(own: all, others: all - own)
    case .endsNoWait, .endsEachWait: return CommitMark(own: own, others: all - own)
    }
  }

  func waitForCommit(after mark: CommitMark) async -> Bool {
    while flaw == .endsNoWait, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
    return flaw == .endsEachWait
  }
}
