import CanonicalSync
import InMemoryAdapters

/// The ways to cancel a sync.
enum Giver: String, CaseIterable, Sendable { case source, flag, task }

/// Cancels a sync after a number of committed pages.
final class PageGiver: SyncObserver {
  private let giver: Giver
  private let pages: AfterPages
  let source: CancellationSource
  let flag: FlagToken

  init(_ giver: Giver, after limit: Int) {
    let (source, flag) = (CancellationSource(), FlagToken())
    self.giver = giver
    self.source = source
    self.flag = flag
    pages = AfterPages(limit) {
      switch giver {
      case .source: source.cancel()
      case .flag: flag.isCancelled = true
      // Observers are called from the sync's own task.
      case .task: withUnsafeCurrentTask { $0?.cancel() }
      }
    }
  }

  /// The cancellation token of the sync.
  var token: (any CancellationToken)? {
    switch giver {
    case .source: source
    case .flag: flag
    case .task: nil
    }
  }

  func receive(_ event: SyncEvent) { pages.receive(event) }
}
