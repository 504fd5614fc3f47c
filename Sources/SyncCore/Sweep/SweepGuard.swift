import SyncModels
import SyncPorts

/// Tells whether a sweep would remove so much, or knows so little, that a person has to agree.
struct SweepGuard: Sendable {
  var sweep: Sweep
  /// From how many removals on, and from which share of the type on.
  var records: Int
  var share: Double
  /// From how many live records on a listing may not lack them all.
  var emptiedRecords: Int
  /// The type's checkpoint, which tells of the sweep before.
  var checkpoint: Checkpoint

  init(sweep: Sweep, options: SyncOptions, checkpoint: Checkpoint) {
    self.sweep = sweep
    records = options.massDeletionRecords
    share = options.massDeletionShare
    emptiedRecords = options.emptyListingRecords
    self.checkpoint = checkpoint
  }

  /// Why the sweep may not begin; `nil` if it may.
  func refusal(in snapshot: any StoreSnapshot) throws(SyncError) -> Checkpoint.Refusal? {
    let type = sweep.entity.type
    let counts = try snapshot.counts(type, rows: true)
    let unmarked = counts.rows?.unmarked ?? 0
    // Of a type that is shown whole, what was listed is staged, and is shown together with the sweep.
    let shown = counts.rows?.live ?? 0
    let live = max(shown, unmarked + counts.withheld[.staged, default: 0])
    let (unlisted, kept, unidentified) = try survey(type, in: snapshot)
    guard unmarked + unlisted > 0 else { return nil }
    // Bytes that cannot be read may be any of the records that were not seen.
    if unmarked > 0, unidentified > 0 { return .unidentifiedMalformed(unidentified) }
    let missing = unmarked + unlisted
    // A file that is caught while it is written, or that was cut off, lists nothing.
    let isEmptied = checkpoint.sweep?.listed == 0 && shown >= emptiedRecords
    guard isEmptied || missing > records && Double(missing) > Double(live + kept) * share else { return nil }
    return .massDeletion(missing: missing, of: live + kept)
  }

  /// How many entries would be forgotten, of how many, and how many new ones nobody can name.
  private func survey(
    _ type: RecordType, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> (unlisted: Int, kept: Int, unidentified: Int) {
    let counts = try snapshot.withheldCounts(type)
    let kept = Sweep.forgettable.reduce(0) { $0 + counts[$1, default: 0] }
    var (unlisted, unidentified) = (0, 0)
    var last: WithheldChange.Key?
    while kept > 0 {
      let entries = try snapshot.portion(withheld: type, Sweep.forgettable, after: last)
      guard let end = entries.last else { break }
      last = end.key
      unlisted += entries.count { sweep.isUnlisted($0) }
      unidentified += entries.count { isNewAndNameless($0) }
    }
    return (unlisted, kept, unidentified)
  }

  /// What was there when the sweep before was carried out has cost nobody a record since.
  private func isNewAndNameless(_ entry: WithheldChange) -> Bool {
    guard entry.kind == .quarantined, entry.change.id == nil, entry.pass >= sweep.pass else { return false }
    // No clock tells which came first: it may have been put right since.
    if let swept = checkpoint.sweptFence { return entry.fence > swept }
    // Of a sweep before 2026-11 the time alone is known.
    return checkpoint.deletionsVerifiedAt.map { entry.since > $0 } ?? true
  }
}
