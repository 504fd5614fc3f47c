#if SQLite
  import CanonicalSync
  import Synchronization
  import ToolSupport

  /// How the daemon's syncs have ended; where one is all there is to be, its end is the daemon's.
  final class Outcomes: Sendable {
    fileprivate struct State {
      var result = SyncResult()
      var count = 0
      var haveFailed = false
    }
    /// Cancelled when the only sync there was is over.
    let end = CancellationSource()
    private let endAfterOne: Bool
    private let state = Mutex(State())

    init(endAfterOne: Bool) {
      self.endAfterOne = endAfterOne
    }

    /// What all of them brought, and how many they were.
    var all: (result: SyncResult, count: Int) { state.withLock { ($0.result, $0.count) } }

    /// Whether the only sync there was did not do what it should; a daemon that goes on has other chances.
    var haveFailed: Bool { endAfterOne && state.withLock { $0.haveFailed } }

    func observe(_ event: SyncCoordinator.Event) {
      let isEnd = state.withLock { $0.note(event) }
      if isEnd, endAfterOne { end.cancel() }
    }
  }

  extension Outcomes.State {
    /// Takes note of what has happened, and tells whether that was the end of a sync or of the hope for one.
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
