import CanonicalSync
import Synchronization

/// Stops a sync once a number of pages is committed.
final class PageLimit: SyncObserver {
  private let remaining: Mutex<Int>
  private let token: CancellationSource

  init(_ pages: Int, cancelling token: CancellationSource) {
    remaining = Mutex(pages)
    self.token = token
  }

  func receive(_ event: SyncEvent) {
    guard case .pageCommitted(let page) = event, page.counts.pages > 0 else { return }
    let isLast = remaining.withLock { remaining in
      remaining -= page.counts.pages
      return remaining <= 0
    }
    if isLast { token.cancel() }
  }
}
