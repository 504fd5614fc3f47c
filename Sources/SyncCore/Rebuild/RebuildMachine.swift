import SyncModels

/// Decides each step of a rebuild, and performs none of them.
///
/// It goes through the duplicates in the order of their natural keys, in batches of whole groups, and tells how far that is at every step: whoever
/// saves ``progress`` with what a step writes may go on from it after any interruption.
struct RebuildMachine: Sendable {
  enum Action: Hashable, Sendable {
    /// Look for so many groups after a natural key.
    case plan(after: String?, limit: Int)
    /// Collapse the groups that have these natural keys now.
    case collapse([String])
    /// Save the progress: all is done that can be.
    case complete
    case finish
  }

  /// How many records share a natural key.
  struct Group: Hashable, Sendable {
    var key: String
    var records: Int
  }

  private(set) var progress: RebuildProgress
  private var planned: [Group] = []
  private var batch: [String] = []

  /// Begins a rebuild, or goes on with one.
  init(version: Int, options: RebuildOptions, earlier: RebuildProgress?, live: Int) {
    if var earlier, earlier.version >= version {
      if !earlier.isDone { earlier.options = options }
      progress = earlier
    } else {
      progress = RebuildProgress(version: version, recordsBefore: live, options: options)
    }
  }

  mutating func start() -> Action {
    if progress.isDone { return .finish }
    // A round begins anew with the groups that the one before had to leave.
    if progress.after == nil { progress.counts.postponed = 0 }
    return next
  }

  mutating func found(_ groups: [Group]) -> Action {
    guard !groups.isEmpty else {
      progress.after = nil
      progress.isDone = progress.counts.postponed == 0
      return .complete
    }
    planned = groups.reversed()
    return nextBatch()
  }

  /// A batch was written; it is taken up again while its references were too many for one transaction.
  mutating func collapsed(_ counts: RebuildReport.Counts, isComplete: Bool) -> Action {
    progress.counts += counts
    guard isComplete else { return .collapse(batch) }
    progress.after = batch.last
    return planned.isEmpty ? next : nextBatch()
  }

  func completed() -> Action { .finish }

  private var next: Action {
    // A group has two records at least.
    .plan(after: progress.after, limit: max(1, progress.options.recordsAtOnce / 2))
  }

  private mutating func nextBatch() -> Action {
    batch = []
    var records = 0
    while let group = planned.last, batch.isEmpty || records + group.records <= progress.options.recordsAtOnce
    {
      planned.removeLast()
      records += group.records
      batch.append(group.key)
    }
    return .collapse(batch)
  }
}
