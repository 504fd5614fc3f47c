import CanonicalSync
import CanonicalSyncToolSupport

/// The clean-up after the night's sync, or after the only one.
struct Tidying: Sendable {
  private let engine: SyncEngine
  private let policy: CleanupPolicy
  private let log: DaemonLog

  init(_ engine: SyncEngine, hidingAfter age: Duration, _ log: DaemonLog) {
    self.engine = engine
    self.log = log
    // Referring records go before their targets, which stay while they are referred to.
    let types = engine.schema.entities.reversed().map(\.type)
    policy = CleanupPolicy(types.map { .hide($0, olderThan: age, by: .modification) })
  }

  /// The clean-up as work for a coordinator.
  var work: SyncCoordinator.Work {
    { token throws(SyncError) in try await perform(token) }
  }

  /// Hides and forgets old records, and logs their number.
  func perform(_ token: any CancellationToken) async throws(SyncError) {
    let report = try await engine.cleanUp(policy, token: token)
    log.write(
      LogEntry(
        "cleaned-up", ("outcome", report.wasCancelled ? "stopped" : "completed"),
        ("hidden", Self.sum(report.hidden)), ("spared", Self.sum(report.spared))))
  }

  /// The sum; `nil` for zero, which is not logged.
  private static func sum(_ counts: [RecordType: Int]) -> JSON? {
    let sum = counts.values.reduce(0, +)
    return sum > 0 ? .integer(sum) : nil
  }
}
