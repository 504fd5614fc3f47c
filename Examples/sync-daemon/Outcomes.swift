#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Synchronization

  /// The outcomes of the daemon's syncs.
  ///
  /// With `--once`, the end of the one sync is the daemon's end.
  final class Outcomes: Sendable {
    fileprivate struct State {
      var result = SyncResult()
      var count = 0
      var haveFailed = false
    }
    /// Cancelled when the only sync is over.
    let end = CancellationSource()
    private let endAfterOne: Bool
    private let state = Mutex(State())

    init(endAfterOne: Bool) {
      self.endAfterOne = endAfterOne
    }

    /// The sum of all results, and their number.
    var all: (result: SyncResult, count: Int) { state.withLock { ($0.result, $0.count) } }

    /// Whether the only sync failed. A continuing daemon tries again.
    var haveFailed: Bool { endAfterOne && state.withLock { $0.haveFailed } }

    func observe(_ event: SyncCoordinator.Event) {
      let isEnd = state.withLock { $0.note(event) }
      if isEnd, endAfterOne { end.cancel() }
    }
  }

  extension Outcomes.State {
    /// Records an event; returns whether a sync has ended or cannot happen.
    fileprivate mutating func note(_ event: SyncCoordinator.Event) -> Bool {
      switch event {
      case .finished(_, .completed(let later)): add(later, hasFailed: !later.failures.isEmpty)
      case .finished(_, .stopped(let later)): add(later, hasFailed: false)
      case .finished, .trigger(_, .ignored): haveFailed = true
      default: return false
      }
      return true
    }

    private mutating func add(_ later: SyncResult, hasFailed: Bool) {
      result.add(later)
      result.wasCancelled = later.wasCancelled
      count += 1
      haveFailed = hasFailed
    }
  }
#endif
