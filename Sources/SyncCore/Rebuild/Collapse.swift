import SyncModels
import SyncPorts

/// Merges groups of duplicates into one record each, within one transaction.
///
/// It can also survey what that would do. Elections use what the transaction sees, so a group that
/// changed since it was found is judged in its current state. Winners and records that refer to
/// losers are edited before losers are deleted, and the outbox keeps that order.
struct Collapse: Sendable {
  var entity: Entity
  var schema: SyncSchema
  var options: RebuildOptions
  var now: Timestamp
  var maximumClockSkew: Duration

  struct Outcome: Sendable {
    var counts: RebuildReport.Counts
    /// Whether all was done.
    ///
    /// If not, references were re-pointed, and the same keys have to be given again.
    var isComplete: Bool
    var changed: SyncEvent.ChangedRecords
    /// The natural keys of the groups that cannot be judged yet.
    var postponed: [String]
  }

  /// Collapses groups.
  ///
  /// - Parameter lists: The records that share each of the keys, as the transaction sees them.
  func run(
    _ keys: [String], _ lists: [[Record]], in transaction: any StoreTransaction
  ) throws(SyncError) -> Outcome {
    let plan = try CollapsePlan(
      keys, lists, of: entity, schema, maximumClockSkew: maximumClockSkew, in: transaction)
    let referrers = Referrers(to: plan.winners(), of: entity.type, in: schema)
    var (found, isComplete): ([RecordID: Referrers.Found], Bool) = ([:], true)
    var shown: [RecordID] = []
    if !plan.elections.isEmpty {
      shown = try WithheldReferrers(to: entity.type, in: schema)
        .reveal(referrers.winners.keys, limit: options.recordsAtOnce, in: transaction)
      (found, isComplete) = try referrers.find(limit: options.recordsAtOnce, in: transaction)
      if shown.count >= options.recordsAtOnce { isComplete = false }
    }
    var counts = isComplete ? plan.counts : RebuildReport.Counts()
    var drafts: [RecordID: RecordDraft] = [:]
    for (id, found) in found {
      var draft = try RecordDraft(found.record)
      counts.repointed += referrers.point(&draft, found.fields)
      drafts[id] = draft
    }
    if isComplete { counts.carriedOver = try takeOver(plan, referrers, into: &drafts) }
    var changed = try write(drafts, plan, deletesLosers: isComplete, in: transaction)
    for id in shown { changed.insert(id) }
    try Self.checkAdvances(changed, isComplete: isComplete, of: entity)
    return Outcome(
      counts: counts, isComplete: isComplete, changed: changed, postponed: plan.postponed)
  }

  /// Throws if an incomplete step has changed nothing: the next step would repeat it forever.
  static func checkAdvances(
    _ changed: SyncEvent.ChangedRecords, isComplete: Bool, of entity: Entity
  ) throws(SyncError) {
    guard !isComplete, changed.isEmpty else { return }
    throw SyncError(
      .storeUnreadable, during: "collapsing duplicates of \(entity.type)",
      """
      The store still finds references that were changed, and would do so forever: it is damaged. Everything \
      committed before is kept.
      """)
  }

  /// Counts what collapsing the groups would do.
  func survey(
    _ keys: [String], _ lists: [[Record]], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> RebuildReport.Counts {
    let plan = try CollapsePlan(
      keys, lists, of: entity, schema, maximumClockSkew: maximumClockSkew, in: snapshot)
    let referrers = Referrers(to: plan.winners(), of: entity.type, in: schema)
    var counts = plan.counts
    guard counts.groups > 0 else { return counts }
    counts.repointed = try referrers.count(
      among: plan.elections.flatMap { $0.losers.map(\.record) }, in: snapshot)
    var drafts: [RecordID: RecordDraft] = [:]
    counts.carriedOver = try takeOver(plan, referrers, into: &drafts)
    return counts
  }

  private func takeOver(
    _ plan: CollapsePlan, _ referrers: Referrers, into drafts: inout [RecordID: RecordDraft]
  ) throws(SyncError) -> Int {
    guard options.carriesOver != .nothing || !entity.immutable.isEmpty else { return 0 }
    var count = 0
    for election in plan.elections {
      let record = election.winner.record
      var draft = if let draft = drafts[record.id] { draft } else { try RecordDraft(record) }
      let taken = draft.takeOver(from: election, options.carriesOver, of: entity, referrers: referrers)
      if taken > 0 { drafts[record.id] = draft }
      count += taken
    }
    return count
  }

  private func write(
    _ drafts: [RecordID: RecordDraft], _ plan: CollapsePlan, deletesLosers: Bool,
    in transaction: any StoreTransaction
  ) throws(SyncError) -> SyncEvent.ChangedRecords {
    var writer = try EditWriter(schema, at: now, maximumClockSkew: maximumClockSkew, in: transaction)
    // Sorted, so that every machine does the same and runs can be reproduced.
    let written = drafts.values.sorted { $0.record.id < $1.record.id }
    var pending = plan.pending
    let strangers = written.map(\.record.id).filter { id in pending[id] == nil }
    if !strangers.isEmpty { pending.merge(try transaction.edits(of: strangers)) { _, edit in edit } }
    let pass = try transaction.checkpoint(for: entity.type)?.lastPass ?? 0
    try writer.edit(try changes(written, pending, pass: pass, in: transaction), pending: pending)
    if deletesLosers, !plan.elections.isEmpty {
      let losers = plan.elections.lazy.flatMap(\.losers)
      var changes: [EditWriter.Change] = []
      changes.reserveCapacity(plan.counts.losers)
      // The remote has deleted these, and the references that delayed their deletion are gone.
      var deletions: [Tombstone] = []
      for loser in losers {
        if let deletion = loser.deletion {
          deletions.append(deletion)
        } else {
          let rebuilt = OutboxEntry.Rebuilt(lastWrite: loser.stamp, pass: pass)
          changes.append(
            EditWriter.Change(shown: loser.record, content: .deletion, author: .rebuild(rebuilt)))
        }
      }
      try writer.edit(changes, pending: pending)
      if !changes.isEmpty {
        try PendingLosers.note(
          plan.elections.compactMap { entity.naturalKey(of: $0.winner.record) }, of: entity.type,
          in: transaction)
      }
      if !deletions.isEmpty { try transaction.delete(deletions) }
      for deletion in deletions { writer.changed.insert(deletion.id) }
      if !plan.notes.isEmpty { try transaction.release(plan.notes) }
    }
    try writer.finish()
    return writer.changed
  }

  /// Returns edits that do not count as the last writes of their records.
  func changes(
    _ drafts: [RecordDraft], _ pending: [RecordID: OutboxEntry], pass: Int64,
    in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [EditWriter.Change] {
    var writes: [RecordType: FormerWrites] = [:]
    var changes: [EditWriter.Change] = []
    for draft in drafts {
      let id = draft.record.id
      guard let entity = schema[id.type] else { continue }
      let former =
        if let known = writes[id.type] { known } else {
          try FormerWrites(entity, maximumClockSkew: maximumClockSkew, in: snapshot)
        }
      writes[id.type] = former
      let lastWrite = try former.lastWrite(of: draft.record, pending: pending[id], in: snapshot)
      var change = draft.change
      change.author = .rebuild(OutboxEntry.Rebuilt(lastWrite: lastWrite, pass: pass))
      changes.append(change)
    }
    return changes
  }
}
