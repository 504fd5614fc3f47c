import CanonicalSync
import InMemoryAdapters

/// How somebody gives a sync up.
enum Giver: String, CaseIterable, Sendable { case source, flag, task }

/// Gives a sync up once so many pages are committed.
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

  /// The token that the sync is given.
  var token: (any CancellationToken)? {
    switch giver {
    case .source: source
    case .flag: flag
    case .task: nil
    }
  }

  func receive(_ event: SyncEvent) { pages.receive(event) }
}
