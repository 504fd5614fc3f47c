public import SyncModels
public import SyncPorts
import Synchronization

/// Adds up what happens under stable names, for a metrics system to collect.
///
/// The names are `sync.started`, `sync.finished`, `sync.cancelled`, `sync.failed.<code>`, `sync.retries`, `sync.resets`,
/// `sync.seconds`, and `sync.<count>` for each number of ``SyncCounts``.
public final class CounterObserver: SyncObserver {
  private let counters = Mutex<[String: Double]>([:])

  /// Starts with every counter at zero.
  public init() {}

  /// What has been added up so far.
  public var values: [String: Double] {
    counters.withLock { $0 }
  }

  /// Adds the event to its counters.
  public func receive(_ event: SyncEvent) {
    let additions = Self.additions(of: event)
    guard !additions.isEmpty else { return }
    counters.withLock { counters in
      for (name, value) in additions { counters[name, default: 0] += value }
    }
  }

  private static func additions(of event: SyncEvent) -> [(String, Double)] {
    switch event {
    case .started: return [("sync.started", 1)]
    case .retrying: return [("sync.retries", 1)]
    case .reset: return [("sync.resets", 1)]
    case .failed(let error), .entityFailed(_, let error): return [("sync.failed.\(error.code)", 1)]
    case .finished(let result):
      let total = result.total
      return [
        (result.wasCancelled ? "sync.cancelled" : "sync.finished", 1),
        ("sync.seconds", result.duration.inSeconds),
      ] + SyncCounts.names.map { ("sync.\($0.name)", Double(total[keyPath: $0.path])) }
    case .edited: return [("edit.transactions", 1)]
    case .hidden(.some(let ids)): return [("cleanup.hidden", Double(ids.count))]
    case .conflict(let conflict, _): return [("edit.conflicts.\(conflict.winner.rawValue)", 1)]
    case .clockAhead: return [("edit.clocksAhead", 1)]
    case .editRefused: return [("push.refusals", 1)]
    case .remoteStorageFull: return [("push.remoteFull", 1)]
    case .pushFinished(let counts):
      return PushCounts.names.filter { $0.name != "pending" }.map {
        ("push.\($0.name)", Double(counts[keyPath: $0.path]))
      }
    case .entityStarted, .pageCommitted, .quarantined, .sweepRefused, .entityFinished, .undecodable, .lost,
      .hidden(.many):
      return []
    }
  }
}
