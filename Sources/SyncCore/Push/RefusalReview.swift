import SyncModels
import SyncPorts

/// Makes refused edits due again after the remote has deleted records of their type.
///
/// One of them may have had the unique value that the edit needs. The next push sends the edits.
struct RefusalReview: SyncPhase {
  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    for entity in session.entities where session.progress.result[entity.type].deleted > 0 {
      let mayBeRefused = try await session.read { (snapshot) throws(SyncError) in
        try snapshot.outboxCount(entity.type) > 0
      }
      guard mayBeRefused else { continue }
      _ = try await session.write { (transaction) throws(SyncError) in
        try transaction.reconsiderRefused(entity.type)
      }
    }
    return .finished
  }
}

extension StoreTransaction {
  /// Makes the refused edits of a type due again, because a record of the type has changed.
  ///
  /// Edits at which the remote fails stay as they are: an answer is missing, not a change.
  ///
  /// - Returns: The number of edits.
  func reconsiderRefused(_ type: RecordType) throws(SyncError) -> Int {
    var count = 0
    var portions = self.portions(outbox: type)
    while let entries = try portions.next() {
      let refused = entries.filter { $0.isRefused && !EditFailure.isReason(of: $0) }
      if refused.isEmpty { continue }
      count += refused.count
      try queue(
        refused.map { entry in
          var entry = entry
          (entry.state, entry.attempts) = (.waiting, 0)
          return entry
        })
    }
    return count
  }
}

extension OutboxEntry {
  /// Whether the remote has refused the edit.
  var isRefused: Bool { if case .refused = state { true } else { false } }
}
