import SyncModels
import SyncPorts

/// Makes refused edits due again that may need what another record of their type had.
///
/// The next push sends them.
struct RefusalReview: SyncPhase {
  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let freed = session.progress.freed
    _ = try await session.reconsiderRefused(session.entities.filter { freed.contains($0.type) })
    return .finished
  }
}

/// Makes all refused edits due again if the sync before this one did not come to its review.
struct OverdueRefusalReview: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      for entity in session.schema.entities where try snapshot.outboxCount(entity.type) > 0 {
        return try SyncHistory.wasCutShort(before: session.fence, in: snapshot)
      }
      return false
    }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    _ = try await session.reconsiderRefused(session.schema.entities)
    return .finished
  }
}

extension SyncSession {
  /// Makes the refused edits of some types due again, because records of the types have changed.
  ///
  /// Edits at which the remote fails stay as they are: an answer is missing, not a change. So do
  /// those that the app has to allow.
  ///
  /// - Returns: The types that have such edits, with their numbers of pending edits.
  func reconsiderRefused(
    _ entities: [Entity]
  ) async throws(SyncError) -> [(type: RecordType, count: Int)] {
    if entities.isEmpty { return [] }
    var reconsidered: [(type: RecordType, count: Int)] = []
    // Mostly no edit is left after a push.
    for pending in try await pendingEdits(of: entities) {
      let isAny = try await write { (transaction) throws(SyncError) in
        try transaction.makeDue(pending.type) {
          $0.isRefused && $0.sent == nil && !EditFailure.isReason(of: $0) && !$0.isHeldByTheApp
        }
      }
      if isAny { reconsidered.append(pending) }
    }
    return reconsidered
  }
}

extension StoreTransaction {
  /// Makes the next push send some edits of a type, whatever they wait for.
  ///
  /// - Returns: Whether there are such edits.
  func makeDue(
    _ type: RecordType, where isChosen: (OutboxEntry) -> Bool
  ) throws(SyncError) -> Bool {
    var isAny = false
    var portions = self.portions(outbox: type)
    while let entries = try portions.next() {
      let chosen = entries.filter(isChosen)
      if chosen.isEmpty { continue }
      isAny = true
      try queue(
        chosen.map { entry in
          var entry = entry
          // The app has decided that an edit with an unknown outcome is sent again.
          if entry.isRefused { entry.sent = nil }
          entry.state = .waiting
          // The remote may have received what was sent.
          entry.attempts = entry.sent == nil ? 0 : 1
          return entry
        })
    }
    return isAny
  }
}

extension OutboxEntry {
  /// Whether the remote has refused the edit.
  var isRefused: Bool { if case .refused = state { true } else { false } }
}
