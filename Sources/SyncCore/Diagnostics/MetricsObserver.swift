public import SyncModels
public import SyncPorts
import Synchronization

/// Counts events for a metrics system, under stable names.
///
/// All numbers begin with this process; ``TypeStatus/metrics`` has those of the store's life. Names
/// begin with `canonicalsync_`, and counters end in `_total`:
///
/// - `syncs_total` by `outcome` (started, finished, cancelled, failed), `sync_seconds_total`, and
///   `sync_failures_total` by the error's `code`, for whole syncs and single types;
/// - `type_syncs_total` by `type` and `outcome` (finished, failed);
/// - `changes_total` by `type` and `outcome`, as in ``SyncCounts``;
/// - `fetched_total`, `swept_total`, `conflicts_total`, `replayed_total`, `pages_total` and
///   `requests_total` by `type`;
/// - `retries_total` by `type` and `code`, `resets_total` by `type` and `reason`;
/// - `push_edits_total` by `outcome` (accepted, conflicts, refused, postponed),
///   `push_requests_total`, `push_remote_full_total`;
/// - `edit_transactions_total`, `hidden_total`, `policy_failures_total`, `clocks_ahead_total`, and
///   `resolved_conflicts_total` by `winner`.
///
/// The gauges are `sync_success_ratio` and `type_success_ratio` (0 to 1), and `sync_age_seconds`
/// and `type_age_seconds`, the time since the last one finished; those of types by `type`.
public final class MetricsObserver: SyncObserver {
  private struct Key: Hashable {
    var name: Name
    var labels: [Metric.Label]
  }
  /// The outcomes of syncs, or of one type's passes.
  private struct Subject {
    var finished = 0.0
    var failed = 0.0
    /// The time since the last one finished; `nil` before the first.
    var age: (@Sendable () -> Duration)?
  }
  private struct State {
    var counters: [Key: Double] = [:]
    var syncs = Subject()
    var types: [RecordType: Subject] = [:]
  }
  private let state = Mutex(State())
  private let clock: any Clock<Duration>

  /// Creates an observer without any number.
  ///
  /// - Parameter clock: Measures the age of data.
  public init(clock: any Clock<Duration> = ContinuousClock()) {
    self.clock = clock
  }

  /// The current numbers, in no particular order.
  public var metrics: [Metric] {
    let state = state.withLock { $0 }
    var metrics = state.counters.map { key, value in
      Metric(key.name.rawValue, .counter, key.name.help, labels: key.labels, value: value)
    }
    func add(_ subject: Subject, _ prefix: String, _ what: String, _ labels: [Metric.Label]) {
      let ended = subject.finished + subject.failed
      if ended > 0 {
        metrics.append(
          Metric(
            "\(prefix)_success_ratio", .gauge, "The share of \(what) that finished, 0 to 1.", labels: labels,
            value: subject.finished / ended))
      }
      if let age = subject.age {
        metrics.append(
          Metric(
            "\(prefix)_age_seconds", .gauge, "The time since the last of \(what) finished.", labels: labels,
            value: age().inSeconds))
      }
    }
    add(state.syncs, "canonicalsync_sync", "syncs", [])
    for (type, subject) in state.types { add(subject, "canonicalsync_type", "a type's syncs", [.type(type)]) }
    return metrics
  }

  /// Adds the event to its counters.
  public func receive(_ event: SyncEvent) {
    let additions = Self.additions(of: event)
    guard !additions.isEmpty else { return }
    let age = event.isSuccess ? clock.stopwatch() : nil
    state.withLock { state in
      for (name, labels, value) in additions {
        state.counters[Key(name: name, labels: labels), default: 0] += value
      }
      switch event {
      case .finished(let result) where !result.wasCancelled:
        state.syncs.finished += 1
        state.syncs.age = age
      case .failed(let error, _): if error.code != .offline { state.syncs.failed += 1 }
      case .entityFinished(let type, _):
        state.types[type, default: Subject()].finished += 1
        state.types[type]?.age = age
      case .entityFailed(let type, _): state.types[type, default: Subject()].failed += 1
      default: break
      }
    }
  }

  private typealias Addition = (name: Name, labels: [Metric.Label], value: Double)

  private static func additions(of event: SyncEvent) -> [Addition] {
    switch event {
    case .started: return [(.syncs, [.outcome("started")], 1)]
    case .retrying(let type, _, _, let error): return [(.retries, [.type(type), .code(error)], 1)]
    case .reset(let type, let reason):
      return [(.resets, [.type(type), Metric.Label("reason", reason.rawValue)], 1)]
    // Nothing was asked of the remote.
    case .failed(let error, let result) where error.code == .offline:
      return [(.syncs, [.outcome("offline")], 1)] + counts(of: result)
    case .failed(let error, let result):
      return [(.syncs, [.outcome("failed")], 1), (.failures, [.code(error)], 1)] + counts(of: result)
    case .entityFailed(let type, let error):
      return [(.typeSyncs, [.type(type), .outcome("failed")], 1), (.failures, [.code(error)], 1)]
    case .entityFinished(let type, _): return [(.typeSyncs, [.type(type), .outcome("finished")], 1)]
    case .finished(let result):
      return [
        (.syncs, [.outcome(result.wasCancelled ? "cancelled" : "finished")], 1),
        (.seconds, [], result.duration.inSeconds),
      ] + counts(of: result)
    case .edited: return [(.edits, [], 1)]
    case .hidden(.records(let ids)): return [(.hidden, [], Double(ids.count))]
    case .conflict(let conflict, _):
      return [(.resolved, [Metric.Label("winner", conflict.winner.rawValue)], 1)]
    case .policyFailed: return [(.policyFailures, [], 1)]
    case .clockAhead: return [(.clocksAhead, [], 1)]
    case .remoteStorageFull: return [(.remoteFull, [], 1)]
    case .pushFinished(let counts):
      let outcomes = PushCounts.names.filter { $0.name != "pending" && $0.name != "requests" }
      return [(.pushRequests, [], Double(counts.requests))]
        + outcomes.map { (.pushEdits, [.outcome($0.name)], Double($0.value(counts))) }
    case .entityStarted, .pageCommitted, .quarantined, .sweepRefused, .undecodable, .lost,
      .hidden(.everything), .moved, .annotated, .targetDeleted, .immutableAssigned,
      .editRefused, .pushCommitted:
      return []
    }
  }

  private static func counts(of result: SyncResult) -> [Addition] {
    let others: [(Name, KeyPath<SyncCounts, Int>)] = [
      (.fetched, \.fetched), (.swept, \.swept), (.conflicts, \.conflicts), (.replayed, \.replayed),
      (.pages, \.pages), (.requests, \.requests),
    ]
    return result.entities.flatMap { type, counts -> [Addition] in
      SyncCounts.outcomes.map {
        (.changes, [.type(type), .outcome($0.name.inSnakeCase)], Double($0.value(counts)))
      } + others.map { name, path in (name, [.type(type)], Double(counts[keyPath: path])) }
    }
  }

  /// The names of the counters.
  private enum Name: String {
    case syncs = "canonicalsync_syncs_total"
    case failures = "canonicalsync_sync_failures_total"
    case seconds = "canonicalsync_sync_seconds_total"
    case typeSyncs = "canonicalsync_type_syncs_total"
    case changes = "canonicalsync_changes_total"
    case fetched = "canonicalsync_fetched_total"
    case swept = "canonicalsync_swept_total"
    case conflicts = "canonicalsync_conflicts_total"
    case replayed = "canonicalsync_replayed_total"
    case pages = "canonicalsync_pages_total"
    case requests = "canonicalsync_requests_total"
    case retries = "canonicalsync_retries_total"
    case resets = "canonicalsync_resets_total"
    case pushEdits = "canonicalsync_push_edits_total"
    case pushRequests = "canonicalsync_push_requests_total"
    case remoteFull = "canonicalsync_push_remote_full_total"
    case edits = "canonicalsync_edit_transactions_total"
    case hidden = "canonicalsync_hidden_total"
    case policyFailures = "canonicalsync_policy_failures_total"
    case clocksAhead = "canonicalsync_clocks_ahead_total"
    case resolved = "canonicalsync_resolved_conflicts_total"

    var help: String {
      switch self {
      case .syncs: "Syncs, by how they went."
      case .failures: "Failures of syncs and of single types, by the error's code."
      case .seconds: "The time that syncs took until they ended."
      case .typeSyncs: "Passes over single types, by how they ended."
      case .changes: "Fetched changes, each once by its outcome."
      case .fetched: "Changes that the remote sent."
      case .swept: "Records removed because a complete listing lacked them."
      case .conflicts: "Edits that met a different change at the remote."
      case .replayed: "Withheld changes of earlier syncs that were applied."
      case .pages: "Committed pages with changes."
      case .requests: "Requests made to the remote to pull, retries included."
      case .retries: "Failed requests that were made again."
      case .resets: "Listings that began anew because the remote's token was void."
      case .pushEdits: "Edits sent to the remote, by its answer."
      case .pushRequests: "Requests made to the remote to push."
      case .remoteFull: "Pushes for which the remote had no room."
      case .edits: "Transactions of the app's own edits."
      case .hidden: "Records hidden by clean-ups."
      case .policyFailures: "Invalid results of merge policies."
      case .clocksAhead: "Stamps of the remote that were too far ahead of the local clock."
      case .resolved: "Resolved merge conflicts, by the winner."
      }
    }
  }
}

extension Metric.Label {
  static func type(_ type: RecordType) -> Metric.Label { Metric.Label("type", type.rawValue) }
  static func outcome(_ name: String) -> Metric.Label { Metric.Label("outcome", name) }
  static func code(_ error: SyncError) -> Metric.Label { Metric.Label("code", error.code.description) }
}

extension String {
  /// The text with words joined by `_`: `skippedOlder` gives `skipped_older`.
  var inSnakeCase: String {
    reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
  }
}

extension SyncEvent {
  /// Whether a sync, or a type's pass, is complete.
  fileprivate var isSuccess: Bool {
    switch self {
    case .finished(let result): !result.wasCancelled
    case .entityFinished: true
    default: false
    }
  }
}
