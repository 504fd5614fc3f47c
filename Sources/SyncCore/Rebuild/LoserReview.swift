import SyncModels
import SyncPorts

/// Reviews, after every pull, the losers whose deletions the remote has not accepted.
///
/// If a winner is gone from the remote, its losers are shown again, and the rest of the group
/// elects anew. Records that arrived since and refer to a loser are pointed to its winner.
struct LoserReview: SyncPhase {
  private struct Outcome: Sendable {
    var tally: Tally
    var changed: SyncEvent.ChangedRecords
    /// Whether there are losers, in the outbox or just removed from it.
    var areAny: Bool
    var last: EditStamp?
    var isComplete: Bool
  }

  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in try !session.typesWithLosers(in: snapshot).isEmpty }
  }

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    for entity in try await session.typesWithLosers() {
      var last: EditStamp?
      var areAny = false
      while true {
        if session.isStopped { return .stopped }
        let outcome = try await review(entity, after: last, in: session)
        session.note(outcome.tally, of: entity.type)
        session.progress.noteCollapsed(outcome.changed, of: entity.type)
        if !outcome.changed.isEmpty { session.environment.emit(.edited(outcome.changed)) }
        areAny = areAny || outcome.areAny
        guard outcome.isComplete else { continue }
        guard let end = outcome.last else { break }
        last = end
      }
      var areNoted = !areAny
      while areNoted {
        if session.isStopped { return .stopped }
        areNoted = try await session.write { (transaction) throws(SyncError) in
          try !PendingLosers.forget(entity.type, in: transaction)
        }
      }
    }
    return .finished
  }

  private func review(
    _ entity: Entity, after last: EditStamp?, in session: SyncSession
  ) async throws(SyncError) -> Outcome {
    let (environment, fence) = (session.environment, session.fence)
    let collapse = Collapse(
      entity: entity, schema: environment.schema, options: RebuildOptions(), now: environment.clock.timestamp,
      maximumClockSkew: environment.edits.maximumClockSkew)
    let settling = Collapse.Settling(
      edits: environment.edits, serverManagedFields: environment.source.capabilities.serverManagedFields)
    return try await session.write { (transaction) throws(SyncError) in
      let entries = try transaction.portion(outbox: entity.type, after: last)
      let all = entries.filter { $0.loser != nil }
      // The push resolves entries that may have reached the remote.
      let losers = all.filter { $0.sent == nil }
      let groups = try LoserGroups(of: losers, entity, in: transaction)
      let orphans = losers.filter { groups.records(of: $0.id)?.isEmpty ?? false }
      var merge = PageMerge(
        entity,
        context: environment.releaseContext(
          fence: fence, markPass: try transaction.checkpoint(for: entity.type)?.markPass, at: collapse.now))
      try Self.restore(orphans, by: &merge, in: transaction)
      try ArrivedDuplicates.note(merge.tally.changed, of: environment.schema, in: transaction)
      let (changed, isComplete) = try collapse.repoint(
        to: groups.winners(of: losers.map(\.id)), settling, in: transaction)
      return Outcome(
        tally: merge.tally, changed: changed, areAny: !all.isEmpty, last: entries.last?.edit.stamp,
        isComplete: isComplete)
    }
  }

  /// Drops deletions, and shows the remote's last copies again as if they arrived now.
  private static func restore(
    _ orphans: [OutboxEntry], by merge: inout PageMerge, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard !orphans.isEmpty else { return }
    let withheld = try transaction.withheld(of: orphans.map(\.id))
    try transaction.giveUp(orphans)
    // A withheld change of a record is newer than the base, and is shown when it can be.
    try merge.release(
      orphans.compactMap { orphan in
        guard let record = orphan.base.record, withheld[orphan.id] == nil else { return nil }
        return WithheldChange(
          key: .record(orphan.id), kind: .parked, change: .upsert(record), reason: "", pass: 0,
          finder: .store,
          since: orphan.edit.stamp.physical)
      }, in: transaction)
  }
}

extension SyncSession {
  /// Returns the types with losers of a rebuild that the remote has not yet deleted.
  func typesWithLosers() async throws(SyncError) -> [Entity] {
    try await read { (snapshot) throws(SyncError) in try typesWithLosers(in: snapshot) }
  }

  /// Returns the types with losers, in a snapshot.
  func typesWithLosers(in snapshot: any StoreSnapshot) throws(SyncError) -> [Entity] {
    var losing: [Entity] = []
    for entity in entities where entity.naturalKey != nil {
      if try PendingLosers.areAny(of: entity.type, in: snapshot) { losing.append(entity) }
    }
    return losing
  }
}
