import SyncModels
import SyncPorts

/// Decides each step of a rebuild, and performs none of them.
///
/// It looks for groups of duplicates in the order of their natural keys, many at a time. It takes
/// these up in the order in which they lie in the store, in batches of whole groups. A caller that
/// saves ``progress`` with each step's writes can resume after any interruption. A collapsed group
/// is no longer a group of duplicates, so a search for the same range is safe.
struct RebuildMachine: Sendable {
  enum Action: Hashable, Sendable {
    /// Look for groups after a natural key, up to a limit.
    case plan(after: String?, limit: Int)
    /// Collapse these groups, in their current state.
    case collapse([DuplicateGroup])
    /// Save the progress: everything possible is done.
    case finish
  }

  private(set) var progress: RebuildProgress
  // The groups found together, and how many of them have been taken up. A machine is copied for
  // every step, and the index saves a copy of the array.
  private var planned: [DuplicateGroup] = []
  private var taken = 0
  // The greatest natural key of the groups found together.
  private var lastKey: String?
  private var batch: [DuplicateGroup] = []

  /// The number of groups looked for at a time: about 12 MB of them.
  ///
  /// With fewer, the store would scan its file more often.
  static let groupsAtOnce = 262_144

  /// Begins a rebuild, or resumes one.
  init(version: Int, options: RebuildOptions, earlier: RebuildProgress?, live: Int) {
    if var earlier, earlier.version >= version {
      if !earlier.isDone { earlier.options = options }
      progress = earlier
    } else {
      progress = RebuildProgress(version: version, recordsBefore: live, options: options)
    }
  }

  /// Begins a round over the duplicates that arrived after a rebuild.
  init(arrivalsWith options: RebuildOptions) {
    progress = RebuildProgress(version: 0, recordsBefore: 0, options: options)
  }

  mutating func start() -> Action {
    if progress.isDone { return .finish }
    // Postponed groups are found again: in a new round all of them, in a resumed round those after
    // the key.
    if progress.after == nil { progress.postponedUpToKey = 0 }
    progress.counts.postponed = progress.postponedUpToKey
    return next
  }

  mutating func found(_ groups: [DuplicateGroup]) -> Action {
    guard let last = groups.last else {
      progress.after = nil
      progress.isDone = progress.counts.postponed == 0
      return .finish
    }
    lastKey = last.key
    planned = groups.sorted { $0.place < $1.place }
    taken = 0
    return nextBatch()
  }

  /// Records that a batch was written.
  ///
  /// The batch is repeated while its references are too many for one transaction.
  mutating func collapsed(_ counts: RebuildReport.Counts, isComplete: Bool) -> Action {
    progress.counts += counts
    guard isComplete else { return .collapse(batch) }
    guard taken == planned.count else { return nextBatch() }
    progress.after = lastKey
    progress.postponedUpToKey = progress.counts.postponed
    return next
  }

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

/// The progress of a type's rebuild, saved in the rebuild's own transactions.
struct RebuildProgress: Hashable, Sendable, Codable {
  var version: Int
  /// The natural key up to which all groups are done.
  ///
  /// Some groups after it may be done as well.
  var after: String?
  /// The number of postponed groups up to that key.
  var postponedUpToKey = 0
  var isDone = false
  var recordsBefore: Int
  var counts = RebuildReport.Counts()
  /// The options of the rebuild, which also apply to duplicates that arrive later.
  var options: RebuildOptions

  static func load(
    for type: RecordType, from snapshot: any StoreSnapshot
  ) throws(SyncError) -> RebuildProgress? {
    try snapshot.value(of: key(for: type))
  }

  func save(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(self, for: Self.key(for: type))
  }

  /// Removes the progress of a type's rebuild, and the duplicates that arrived since.
  static func forget(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.remove(key(for: type))
    try ArrivedDuplicates.forget(type, in: transaction)
  }

  private static func key(for type: RecordType) -> ValueKey<RebuildProgress> {
    ValueKey(.rebuilds, type.rawValue)
  }
}

extension RebuildProgress {
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      version: try values.decode(Int.self, forKey: .version),
      after: try values.decodeIfPresent(String.self, forKey: .after),
      postponedUpToKey: try values.decodeCount(forKey: .postponedUpToKey),
      isDone: try values.decode(Bool.self, forKey: .isDone),
      recordsBefore: try values.decodeCount(forKey: .recordsBefore),
      counts: try values.decode(RebuildReport.Counts.self, forKey: .counts),
      options: try values.decode(RebuildOptions.self, forKey: .options))
  }
}
