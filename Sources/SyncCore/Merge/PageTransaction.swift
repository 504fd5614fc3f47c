import SyncModels
import SyncPorts

/// The commit of one page, within one transaction.
///
/// It writes rows, withheld changes, marks, and the checkpoint.
struct PageTransaction: Sendable {
  var entity: Entity
  var context: MergeContext
  var commit: PageCommit
  var status: PassOutcomes?

  /// Writes the page, and returns the outcomes of its changes.
  func run(in transaction: any StoreTransaction) throws(SyncError) -> Tally {
    var merge = try merge(in: transaction)
    if commit.isLast { try publish(with: &merge, in: transaction) }
    return try finish(merge, with: commit.checkpoint, in: transaction)
  }

  /// Merges the page's changes, or stages them.
  func merge(in transaction: any StoreTransaction) throws(SyncError) -> PageMerge {
    if commit.clearsMarks {
      try transaction.clearMarks(entity.type)
      try ListingGap.close(for: entity.type, in: transaction)
      try markEdited(in: transaction)
    }
    var merge = PageMerge(entity, context: context)
    merge.tally.notePage(of: entity.type, changes: commit.page.changes.count)
    try merge.mergeAndRelease(page: commit.page.changes, in: transaction)
    merge.tally.passProgress = (commit.pass.fetched, commit.pass.total)
    return merge
  }

  /// Saves the progress of the pass, and returns the outcomes of the changes.
  func finish(
    _ merge: PageMerge, with checkpoint: Checkpoint, in transaction: any StoreTransaction
  ) throws(SyncError) -> Tally {
    try ArrivedDuplicates.remember(merge.tally.changed, of: context.schema, in: transaction)
    try transaction.setCheckpoint(checkpoint, for: entity.type)
    if let status { try status.save(for: entity.type, in: transaction) }
    try transaction.demandPlaces(of: merge.tally.changed, by: context.schema)
    return merge.tally
  }

  /// Marks the records with a pending edit: a push finds out their remote state.
  ///
  /// A sweep must not remove them.
  private func markEdited(in transaction: any StoreTransaction) throws(SyncError) {
    var portions = transaction.portions(outbox: entity.type)
    while let entries = try portions.next() {
      try transaction.mark(entries.map(\.id))
      let isUnanswered = entries.contains { $0.sent != nil }
      try ListingGap.open(for: entity.type, isUnanswered: isUnanswered, in: transaction)
    }
  }

  /// Shows a whole type's new state at once.
  ///
  /// It merges the staged changes, portion by portion, in this one transaction.
  func publish(
    with merge: inout PageMerge, in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard try transaction.withheldCounts(entity.type)[.staged, default: 0] > 0 else { return }
    var context = context
    context.stages = false
    // What is staged was news when it was staged.
    context.needed = nil
    var publication = PageMerge(entity, context: context, tally: merge.tally)
    var portions = transaction.portions(withheld: entity.type, [.staged])
    while try transaction.withheldCounts(entity.type)[.staged, default: 0] > 0,
      let entries = try portions.next()
    {
      try transaction.release(entries.map(\.key))
      // Records that an abandoned pass staged are listed again by this one, or are gone from the
      // remote.
      for entry in entries where entry.pass != commit.pass.number {
        publication.tally.noteSuperseded(entry, by: context.finder)
      }
      let current = entries.filter { $0.pass == commit.pass.number }
      try publication.mergeAndRelease(
        current.map { Incoming($0.lifted(by: entity)) }, in: transaction)
    }
    merge.tally = publication.tally
  }
}
