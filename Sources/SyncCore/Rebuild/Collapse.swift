import SyncModels
import SyncPorts

/// Merges groups of duplicates into one record each, within one transaction.
///
/// Elections use what the transaction sees, so a group that changed since it was found is judged in
/// its current state. Winners and records that refer to losers are edited before losers are
/// deleted, and the outbox keeps that order.
struct Collapse: Sendable {
  var entity: Entity
  var schema: SyncSchema
  var options: RebuildOptions
  /// The context in which pending edits of losers are settled.
  var context: MergeContext

  var now: Timestamp { context.now }
  var maximumClockSkew: Duration { context.edits.maximumClockSkew }

  init(_ entity: Entity, _ options: RebuildOptions, in environment: RunEnvironment) {
    self.entity = entity
    self.options = options
    schema = environment.schema
    context = environment.releaseContext(fence: 0)
  }

  /// A step of a machine that was carried out.
  struct Step: Sendable {
    var machine: RebuildMachine
    var action: RebuildMachine.Action
    var changed: ChangedRecords
    /// The conflicts of losers' edits with their winners.
    var tally: Tally
    /// Whether the next step takes the same groups, because their references were too many.
    var isRepeated: Bool
  }

  /// Collapses the groups of a machine's action.
  func step(
    _ machine: RebuildMachine, _ groups: [DuplicateGroup], in transaction: any StoreTransaction
  ) throws(SyncError) -> Step {
    var machine = machine
    let merge = PageMerge(entity, context: context)
    let plan = try CollapsePlan(
      groups.map(\.key), try transaction.records(ofType: entity.type, in: groups), by: merge, in: transaction)
    let referrers = Referrers(to: plan.winners(), of: entity.type, in: schema)
    var (found, isComplete): ([RecordID: Referrers.Found], Bool) = ([:], true)
    var shown: [RecordID] = []
    if !plan.elections.isEmpty {
      shown = try referrers.reveal(limit: options.recordsAtOnce, in: transaction)
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
    var tally = Tally()
    var lost: Set<RecordID> = []
    if isComplete {
      counts.carriedOver = try takeOver(plan, referrers, into: &drafts)
      let conflicts = try inherit(plan, referrers, by: merge.settler, into: &drafts, &lost)
      if !conflicts.isEmpty { try transaction.log(conflicts) }
      for conflict in conflicts { tally.note(conflict) }
    }
    var changed = try write(drafts, plan, deletesLosers: isComplete, lost, &tally, in: transaction)
    for id in shown { changed.insert(id) }
    try checkAdvances(changed, isComplete: isComplete)
    let action = machine.collapsed(counts, isComplete: isComplete)
    return Step(machine: machine, action: action, changed: changed, tally: tally, isRepeated: !isComplete)
  }

  /// Points what refers to losers with pending deletions to their winners.
  ///
  /// Such references came too late for the rebuild. A withheld copy that waits for losers alone is
  /// merged like any other, and then pointed to their winners. Within the transaction its
  /// references dangle.
  ///
  /// - Parameter merge: Merges the copies, and counts what they change.
  /// - Returns: The other records that changed for readers, and whether all was done.
  func repoint(
    to winners: [RecordID: RecordID], by merge: inout PageMerge, in transaction: any StoreTransaction
  ) throws(SyncError) -> (changed: ChangedRecords, isComplete: Bool) {
    let referrers = Referrers(to: winners, of: entity.type, in: schema)
    guard !referrers.winners.isEmpty else { return (.records([]), true) }
    let shown = try referrers.reveal(limit: MergeContext.portion, in: transaction)
    var (found, isComplete) = try referrers.find(limit: MergeContext.portion, in: transaction)
    if isComplete {
      merge.context.together.formUnion(winners.keys)
      try referrers.release(by: &merge, in: transaction)
      (found, _) = try referrers.find(limit: .max, in: transaction)
    }
    var drafts: [RecordID: RecordDraft] = [:]
    for (id, found) in found {
      var draft = try RecordDraft(found.record)
      _ = referrers.point(&draft, found.fields)
      drafts[id] = draft
    }
    var writer = try EditWriter(schema, at: now, maximumClockSkew: maximumClockSkew, in: transaction)
    let pass = try transaction.checkpoint(for: entity.type)?.lastPass ?? 0
    try writer.edit(drafts, pending: [:], pass: pass)
    try writer.finish()
    var changed = writer.changed
    for id in shown { changed.insert(id) }
    isComplete = isComplete && shown.count < MergeContext.portion
    try checkAdvances(changed, isComplete: isComplete)
    return (changed, isComplete)
  }

  /// Throws if an incomplete step has changed nothing: the next step would repeat it forever.
  private func checkAdvances(
    _ changed: ChangedRecords, isComplete: Bool
  ) throws(SyncError) {
    guard !isComplete, changed.isEmpty else { return }
    throw SyncError(
      .storeUnreadable, during: "collapsing duplicates of \(entity.type)",
      """
      The store still finds references that were changed, and would do so forever: it is damaged. Everything \
      committed before is kept.
      """)
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

  /// Gives the pending edits of losers to their winners, as the type's policy decides.
  ///
  /// - Parameter lost: The losers over whose edits their winners have won.
  private func inherit(
    _ plan: CollapsePlan, _ referrers: Referrers, by settler: EditSettler,
    into drafts: inout [RecordID: RecordDraft], _ lost: inout Set<RecordID>
  ) throws(SyncError) -> [Conflict] {
    var conflicts: [Conflict] = []
    for election in plan.elections {
      for loser in election.losers {
        // What a rebuild has written to a loser that the remote still has is no edit of a person.
        guard let edit = plan.pending[loser.id], edit.author == .app || loser.deletion != nil else {
          continue
        }
        let winner = election.winner
        var draft = if let draft = drafts[winner.id] { draft } else { try RecordDraft(winner.record) }
        guard let conflict = draft.inherit(edit, over: winner.stamp, by: settler, referrers: referrers) else {
          continue
        }
        conflicts.append(conflict)
        if conflict.winner != .remote {
          drafts[winner.id] = draft
        } else if edit.sent == nil, plan.pending[winner.id]?.author != .app {
          // What may have arrived is sent again with its whole group. A later edit of the app takes its place.
          lost.insert(loser.id)
        }
      }
    }
    return conflicts
  }

  private func write(
    _ drafts: [RecordID: RecordDraft], _ plan: CollapsePlan, deletesLosers: Bool, _ lost: Set<RecordID>,
    _ tally: inout Tally, in transaction: any StoreTransaction
  ) throws(SyncError) -> ChangedRecords {
    var writer = try EditWriter(schema, at: now, maximumClockSkew: maximumClockSkew, in: transaction)
    let pass = try transaction.checkpoint(for: entity.type)?.lastPass ?? 0
    try writer.edit(drafts, pending: plan.pending, pass: pass)
    if deletesLosers, !plan.elections.isEmpty {
      var changes: [EditWriter.Change] = []
      changes.reserveCapacity(plan.counts.losers)
      // The remote has deleted these, and the references that delayed their deletion are gone.
      var deletions: [Tombstone] = []
      for election in plan.elections {
        for loser in election.losers {
          if let deletion = loser.deletion {
            deletions.append(deletion)
          } else {
            let rebuilt = OutboxEntry.Rebuilt(lastWrite: loser.stamp, pass: pass, winner: election.winner.id)
            changes.append(
              EditWriter.Change(shown: loser.record, content: .deletion, author: .rebuild(rebuilt)))
          }
        }
      }
      try writer.edit(changes, pending: plan.pending)
      if !plan.pending.isEmpty, try transaction.hasAtomicGroups() {
        for election in plan.elections {
          let edited = election.losers.compactMap { lost.contains($0.id) ? nil : plan.pending[$0.id] }
          try transaction.passOnPlaces(of: edited, to: election.winner.id)
        }
        for refusal in try transaction.breakGroups(of: lost.sorted(), at: now) { tally.noteRefusal(refusal) }
      }
      try ExpiringValues.move(
        plan.elections.flatMap { election in election.losers.map { ($0.id, election.winner.id) } },
        in: transaction)
      if !changes.isEmpty { try PendingLosers.remember(entity.type, in: transaction) }
      if !deletions.isEmpty {
        try transaction.delete(deletions)
        let edited = deletions.map(\.id).filter { plan.pending[$0] != nil }
        if !edited.isEmpty { try transaction.endEdits(edited) }
      }
      for deletion in deletions { writer.changed.insert(deletion.id) }
      if !plan.notes.isEmpty { try transaction.release(plan.notes) }
    }
    try writer.finish()
    return writer.changed
  }
}

extension EditWriter {
  /// Writes drafts as edits that do not count as the last writes of their records.
  ///
  /// - Parameters:
  ///   - known: The pending edits that were read already.
  ///   - pass: The number of the last pass of the type whose records are merged or moved.
  mutating func edit(
    _ drafts: [RecordID: RecordDraft], pending known: [RecordID: OutboxEntry], pass: Int64
  ) throws(SyncError) {
    // Sorted, so that every machine does the same and runs can be reproduced.
    let ids = drafts.keys.sorted()
    var pending = known
    let strangers = ids.filter { known[$0] == nil }
    if !strangers.isEmpty { pending.merge(try transaction.edits(of: strangers)) { _, edit in edit } }
    var writes: [RecordType: FormerWrites] = [:]
    var changes: [EditWriter.Change] = []
    for id in ids {
      guard let draft = drafts[id], let entity = schema[id.type] else { continue }
      let former =
        if let known = writes[id.type] { known } else {
          try FormerWrites(entity, maximumClockSkew: maximumClockSkew, in: transaction)
        }
      writes[id.type] = former
      let before = try former.lastWrite(of: draft.record, pending: pending[id], in: transaction)
      let lastWrite = max(before, draft.inherited ?? before)
      var change = draft.change
      // Before the first pass too, it is more than a restoration, whose number is 0.
      change.author = .rebuild(OutboxEntry.Rebuilt(lastWrite: lastWrite, pass: max(1, pass)))
      changes.append(change)
    }
    try edit(changes, pending: pending)
  }
}

/// The winners and losers of some groups of duplicates, as a snapshot has them.
struct CollapsePlan {
  private(set) var elections: [Election] = []
  /// The counts of the groups that were judged, postponed and skipped.
  private(set) var counts = RebuildReport.Counts()
  /// The natural keys of the groups that cannot be judged yet.
  private(set) var postponed: [String] = []
  private(set) var pending: [RecordID: OutboxEntry] = [:]
  /// The withheld changes of losers, which are released with them.
  private(set) var notes: [WithheldChange.Key] = []

  /// Holds the elections among records that share natural keys.
  ///
  /// - Parameter lists: The records with each of the keys.
  /// - Parameter merge: What settles the pending edits of records that the remote has deleted.
  init(
    _ keys: [String], _ lists: [[Record]], by merge: PageMerge, in snapshot: any StoreSnapshot
  ) throws(SyncError) {
    let (entity, schema) = (merge.entity, merge.context.schema)
    let mayBePending = try snapshot.outboxCount(entity.type) > 0
    let mayBeWithheld = try !snapshot.withheldCounts(entity.type).isEmpty
    let ids = mayBePending || mayBeWithheld ? lists.flatMap { $0.count > 1 ? $0.map(\.id) : [] } : []
    if mayBePending { pending = try snapshot.edits(of: ids) }
    let withheld = mayBeWithheld ? try snapshot.withheld(of: ids) : [:]
    let barred = try Referrers.Withheld(to: entity.type, in: schema).targets(
      among: lists.flatMap { $0.count > 1 ? $0.map(\.id) : [] }, kinds: [.incompatible], in: snapshot)
    let stamps = try FormerWrites(
      entity, maximumClockSkew: merge.context.edits.maximumClockSkew, in: snapshot)
    elections.reserveCapacity(keys.count)
    for (key, records) in zip(keys, lists) {
      guard records.count > 1 else {
        counts.aborted += 1
        continue
      }
      // In most runs no withheld change can postpone a group.
      let mayBeOpen = !barred.isEmpty || !withheld.isEmpty
      if mayBeOpen,
        records.contains(where: { barred.contains($0.id) || isUnsettled($0.id, withheld[$0.id], by: merge) })
      {
        counts.postponed += 1
        postponed.append(key)
        continue
      }
      var candidates: [Candidate] = []
      candidates.reserveCapacity(records.count)
      for record in records {
        let stamp = try stamps.lastWrite(of: record, pending: pending[record.id], in: snapshot)
        let deletion = withheld[record.id]?.deletion
        candidates.append(Candidate(record: record, stamp: stamp, deletion: deletion))
      }
      guard let election = Election(consume candidates) else {
        counts.aborted += 1
        continue
      }
      counts.groups += 1
      counts.losers += election.losers.count
      if !withheld.isEmpty { notes += election.losers.compactMap { withheld[$0.id]?.key } }
      elections.append(election)
    }
  }

  /// Returns the winner of each loser.
  func winners() -> [RecordID: RecordID] {
    var winners = [RecordID: RecordID](minimumCapacity: counts.losers)
    for election in elections {
      for loser in election.losers { winners[loser.id] = election.winner.id }
    }
    return winners
  }

  /// Whether the remote has a newer state of a record that is not shown yet.
  ///
  /// The record's future is then unknown.
  private func isUnsettled(_ id: RecordID, _ entry: WithheldChange?, by merge: PageMerge) -> Bool {
    switch entry?.kind {
    case nil, .missing: return false
    case .held:
      guard let edit = pending[id] else { return false }
      guard !edit.isRestoration, let deletion = entry?.deletion else { return true }
      return !merge.deletes(deletion, edit)
    default: return true
    }
  }
}

extension WithheldChange {
  /// The deletion that waits until no record refers to this one.
  fileprivate var deletion: Tombstone? {
    guard kind == .held, case .tombstone(let tombstone) = change else { return nil }
    return tombstone
  }
}
