import CanonicalSync
import InMemoryAdapters
import Synchronization

/// How somebody gives a sync up.
enum Giver: String, CaseIterable, Sendable { case source, flag, task }

/// Gives a sync up once so many pages are committed.
final class PageGiver: SyncObserver {
  private let giver: Giver
  private let limit: Int
  private let pages = Mutex(0)
  let source = CancellationSource()
  let flag = FlagToken()

  init(_ giver: Giver, after limit: Int) {
    self.giver = giver
    self.limit = limit
  }

  /// The token that the sync is given.
  var token: (any CancellationToken)? {
    switch giver {
    case .source: source
    case .flag: flag
    case .task: nil
    }
  }

  func receive(_ event: SyncEvent) {
    guard case .pageCommitted = event else { return }
    let count = pages.withLock { pages in
      pages += 1
      return pages
    }
    guard count == limit else { return }
    switch giver {
    case .source: source.cancel()
    case .flag: flag.isCancelled = true
    // Observers are called from the sync's own task.
    case .task: withUnsafeCurrentTask { $0?.cancel() }
    }
  }
}
