import CanonicalSync
import ToolSupport

/// The clean-up that follows the night's sync, or the only one.
struct Tidying: Sendable {
  private let engine: SyncEngine
  private let policy: CleanupPolicy
  private let log: DaemonLog

  init(_ engine: SyncEngine, hidingAfter age: Duration, _ log: DaemonLog) {
    self.engine = engine
    self.log = log
    // What refers goes before what it refers to, which stays as long as it is referred to.
    let types = engine.schema.entities.reversed().map(\.type)
    policy = CleanupPolicy(types.map { .hide($0, olderThan: age, by: .modification) })
  }

  /// As a coordinator takes it.
  var work: SyncCoordinator.Work {
    { token throws(SyncError) in try await perform(token) }
  }

  /// Hides and forgets what is old, and writes down how much that was.
  func perform(_ token: any CancellationToken) async throws(SyncError) {
    let report = try await engine.cleanUp(policy, token: token)
    log.write(
      LogEntry(
        "cleaned-up", ("outcome", report.wasCancelled ? "stopped" : "completed"),
        ("hidden", Self.sum(report.hidden)), ("spared", Self.sum(report.spared))))
  }

  /// How many there are; `nil`, which is not written down, if there are none.
  private static func sum(_ counts: [RecordType: Int]) -> JSON? {
    let sum = counts.values.reduce(0, +)
    return sum > 0 ? .integer(sum) : nil
  }
}
