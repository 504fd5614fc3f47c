import CanonicalSync
import Synchronization

/// Acts once after a number of committed pages, on the sync's own task.
final class AfterPages: SyncObserver {
  private let limit: Int
  private let act: @Sendable () -> Void
  private let pages = Mutex(0)

  init(_ limit: Int, _ act: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.act = act
  }

  func receive(_ event: SyncEvent) {
    guard case .pageCommitted = event else { return }
    let count = pages.withLock { pages in
      pages += 1
      return pages
    }
    if count == limit { act() }
  }
}
