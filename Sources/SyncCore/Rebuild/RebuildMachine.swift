import SyncModels

/// Decides each step of a rebuild, and performs none of them.
///
/// It looks for groups of duplicates in the order of their natural keys, many at a time, and takes those up in the order in which they lie in the store, in
/// batches of whole groups. Whoever saves ``progress`` with what a step writes may go on from it after any interruption: groups that are dealt with are
/// none any more, so those that were found together can be looked for again.
struct RebuildMachine: Sendable {
  enum Action: Hashable, Sendable {
    /// Look for so many groups after a natural key.
    case plan(after: String?, limit: Int)
    /// Collapse these groups, as they are now.
    case collapse([DuplicateGroup])
    /// Save the progress: all is done that can be.
    case complete
    case finish
  }

  private(set) var progress: RebuildProgress
  // What was found together, and how much of it has been taken up: a machine is copied for every step, and the array then need not be.
  private var planned: [DuplicateGroup] = []
  private var taken = 0
  // The greatest natural key of those that were found together.
  private var lastKey: String?
  private var batch: [DuplicateGroup] = []

  /// How many groups are looked for at a time: a dozen megabytes of them. With fewer, the store would go through its file more often.
  static let groupsAtOnce = 262_144

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
    // Groups that had to be left are met again: all of them in a new round, in one that goes on those behind the key.
    if progress.after == nil { progress.postponedUpToKey = 0 }
    if let postponed = progress.postponedUpToKey { progress.counts.postponed = postponed }
    return next
  }

  mutating func found(_ groups: [DuplicateGroup]) -> Action {
    guard let last = groups.last else {
      progress.after = nil
      progress.isDone = progress.counts.postponed == 0
      return .complete
    }
    lastKey = last.key
    planned = groups.sorted { $0.place < $1.place }
    taken = 0
    return nextBatch()
  }

  /// A batch was written; it is taken up again while its references were too many for one transaction.
  mutating func collapsed(_ counts: RebuildReport.Counts, isComplete: Bool) -> Action {
    progress.counts += counts
    guard isComplete else { return .collapse(batch) }
    guard taken == planned.count else { return nextBatch() }
    progress.after = lastKey
    progress.postponedUpToKey = progress.counts.postponed
    return next
  }

  func completed() -> Action { .finish }

  private var next: Action { .plan(after: progress.after, limit: Self.groupsAtOnce) }

  private mutating func nextBatch() -> Action {
    batch = []
    var records = 0
    for group in planned[taken...] {
      guard batch.isEmpty || records + group.count <= progress.options.recordsAtOnce else { break }
      records += group.count
      batch.append(group)
    }
    taken += batch.count
    return .collapse(batch)
  }
}
