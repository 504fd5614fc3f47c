public import SyncModels
public import SyncPorts
import Synchronization

/// Counts events under stable names, for a metrics system to collect.
///
/// The names are `sync.started`, `sync.finished`, `sync.cancelled`, `sync.failed`,
/// `sync.failed.<code>`, `sync.retries`, `sync.resets`, `sync.seconds`, and `sync.<count>` for each
/// number of ``SyncCounts``; `type.<type>.finished` and `type.<type>.failed`. Two kinds of gauges
/// are computed when they are read. `sync.successRate` and `type.<type>.successRate` are the share
/// of finished ones among finished and failed ones, 0 to 1. `sync.age.seconds` and
/// `type.<type>.age.seconds` are the time since the last one finished. All of them begin with this
/// process; ``TypeReport/metrics`` covers the store's life.
public final class CounterObserver: SyncObserver {
  private struct State {
    var counters: [String: Double] = [:]
    /// The time since each subject last finished, by the prefix of its counters' names.
    var ages: [String: @Sendable () -> Duration] = [:]
  }
  private let state = Mutex(State())
  private let clock: any Clock<Duration>

  /// Creates an observer with every counter at zero.
  ///
  /// - Parameter clock: Measures the data's age.
  public init(clock: any Clock<Duration> = ContinuousClock()) {
    self.clock = clock
  }

  /// The current counters and gauges.
  public var values: [String: Double] {
    let (counters, ages) = state.withLock { ($0.counters, $0.ages) }
    var values = counters
    for (name, age) in ages { values["\(name).age.seconds"] = age().inSeconds }
    for name in counters.keys
    where name == "sync.failed" || name == "sync.finished" || name.hasPrefix("type.") {
      guard let dot = name.lastIndex(of: "."), ["failed", "finished"].contains(name[dot...].dropFirst())
      else {
        continue
      }
      let subject = name[..<dot]
      let finished = counters["\(subject).finished", default: 0]
      values["\(subject).successRate"] = finished / (finished + counters["\(subject).failed", default: 0])
    }
    return values
  }

  /// Adds the event to its counters.
  public func receive(_ event: SyncEvent) {
    let additions = Self.additions(of: event)
    guard !additions.isEmpty else { return }
    let subject = event.finishedSubject
    let age = subject.map { _ in clock.stopwatch() }
    state.withLock { state in
      for (name, value) in additions { state.counters[name, default: 0] += value }
      if let subject { state.ages[subject] = age }
    }
  }

  private static func additions(of event: SyncEvent) -> [(String, Double)] {
    switch event {
    case .started: return [("sync.started", 1)]
    case .retrying: return [("sync.retries", 1)]
    case .reset: return [("sync.resets", 1)]
    case .failed(let error): return [("sync.failed", 1), ("sync.failed.\(error.code)", 1)]
    case .entityFailed(let type, let error):
      return [("type.\(type).failed", 1), ("sync.failed.\(error.code)", 1)]
    case .entityFinished(let type, _): return [("type.\(type).finished", 1)]
    case .finished(let result):
      let total = result.total
      return [
        (result.wasCancelled ? "sync.cancelled" : "sync.finished", 1),
        ("sync.seconds", result.duration.inSeconds),
      ] + SyncCounts.names.map { ("sync.\($0.name)", Double(total[keyPath: $0.path])) }
    case .edited: return [("edit.transactions", 1)]
    case .hidden(.some(let ids)): return [("cleanup.hidden", Double(ids.count))]
    case .conflict(let conflict, _): return [("edit.conflicts.\(conflict.winner.rawValue)", 1)]
    case .policyFailed: return [("edit.policyFailures", 1)]
    case .clockAhead: return [("edit.clocksAhead", 1)]
    case .editRefused: return [("push.refusals", 1)]
    case .remoteStorageFull: return [("push.remoteFull", 1)]
    case .pushFinished(let counts):
      return PushCounts.names.filter { $0.name != "pending" }.map {
        ("push.\($0.name)", Double(counts[keyPath: $0.path]))
      }
    case .entityStarted, .pageCommitted, .quarantined, .sweepRefused, .undecodable, .lost,
      .hidden(.many):
      return []
    }
  }
}

extension SyncEvent {
  /// The prefix of the counters of what is now up to date.
  fileprivate var finishedSubject: String? {
    switch self {
    case .finished(let result) where !result.wasCancelled: "sync"
    case .entityFinished(let type, _): "type.\(type)"
    default: nil
    }
  }
}
