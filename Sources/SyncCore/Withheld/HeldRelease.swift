import SyncModels
import SyncPorts

/// Carries out the held deletions of a type that nothing refers to any more.
///
/// A deletion may free the targets of the deleted record, so rounds repeat until one deletes
/// nothing. Circles that only their own members refer to go after each such round.
struct HeldRelease: SyncPhase {
  let entity: Entity

  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    let deletions = HeldDeletions(entity: entity, context: session.sweepContext(pass: 0))
    var (rounds, circles) = (DwindlingRounds(), DwindlingRounds())
    while true {
      if try await round(of: deletions, &rounds, in: &session) == .stopped { return .stopped }
      if try rounds.end() { continue }
      circles.note(try await releaseCircles(in: &session))
      if try !circles.end() { return .finished }
    }
  }

  /// Runs one round over the held deletions.
  private func round(
    of deletions: HeldDeletions, _ rounds: inout DwindlingRounds, in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    guard try await isAnythingHeld(in: session) else { return .finished }
    return try await session.walk(of: entity.type) { (transaction, start) throws(SyncError) in
      try deletions.portion(after: start, in: transaction)
    } use: {
      rounds.note($0)
    }
  }

  /// Deletes records to which only each other refer.
  ///
  /// - Returns: The deleted records.
  private func releaseCircles(in session: inout SyncSession) async throws(SyncError) -> [RecordID] {
    guard entity.refersToItself, try await isAnythingHeld(in: session) else { return [] }
    let circles = HeldCircles(entity: entity, context: session.sweepContext(pass: 0))
    let (tally, deleted) = try await session.write { (transaction) throws(SyncError) in
      try circles.release(in: transaction)
    }
    session.report(tally, of: entity.type)
    return deleted
  }

  private func isAnythingHeld(in session: SyncSession) async throws(SyncError) -> Bool {
    let type = entity.type
    return try await session.read { (snapshot) throws(SyncError) in
      try snapshot.withheldCounts(type)[.held, default: 0] > 0
    }
  }
}

/// Carries out held deletions whose records are no longer referred to.
private struct HeldDeletions: Sendable {
  var entity: Entity
  var context: MergeContext

  /// Carries out the free deletions of one portion. Each may free further ones.
  func portion(
    after key: WithheldChange.Key?, in transaction: any StoreTransaction
  ) throws(SyncError) -> Portion<WithheldChange.Key> {
    let entries = try transaction.portion(withheld: entity.type, [.held], after: key)
    let referenced = try transaction.referenced(
      among: entries.compactMap(\.change.id), by: context.schema)
    let free = entries.filter { entry in entry.change.id.map { !referenced.contains($0) } ?? false }
    var merge = PageMerge(entity, context: context.forRelease(markPass: nil))
    if !free.isEmpty { try merge.release(free, in: transaction) }
    return Portion(
      tally: merge.tally, ids: merge.tally.changed.isEmpty ? [] : free.compactMap(\.change.id),
      end: entries.last?.key)
  }
}
