import SyncModels
import SyncPorts

/// Decides whether a sweep needs a person's confirmation.
///
/// It does if it would remove too many records, or if malformed records might be the missing ones.
struct SweepGuard: Sendable {
  var sweep: Sweep
  /// The number of removals, and the share of the type, that need confirmation.
  var records: Int
  var share: Double
  /// The number of live records from which an empty listing needs confirmation.
  var emptiedRecords: Int
  /// The type's checkpoint, which describes the previous sweep.
  var checkpoint: Checkpoint

  init(sweep: Sweep, options: SyncOptions, checkpoint: Checkpoint) {
    self.sweep = sweep
    records = options.massDeletionRecords
    share = options.massDeletionShare
    emptiedRecords = options.emptyListingRecords
    self.checkpoint = checkpoint
  }

  /// Whether a sweep may begin.
  enum Verdict: Sendable {
    /// It may, and would find nothing.
    case nothingToRemove
    case allowed
    case refused(SweepRefusal)
  }

  /// Returns why the sweep may not begin; `nil` if it may.
  func refusal(in snapshot: any StoreSnapshot) throws(SyncError) -> SweepRefusal? {
    if case .refused(let refusal) = try verdict(in: snapshot) { refusal } else { nil }
  }

  /// Decides whether the sweep may begin.
  func verdict(in snapshot: any StoreSnapshot) throws(SyncError) -> Verdict {
    let type = sweep.entity.type
    let counts = try snapshot.counts(type, rows: true)
    let unmarked = counts.rows?.unmarked ?? 0
    // In a type that is shown whole, the listed records are staged, and are shown together with the
    // sweep.
    let shown = counts.rows?.live ?? 0
    let live = max(shown, unmarked + counts.withheld[.staged, default: 0])
    let (unlisted, kept, unidentified) = try survey(type, in: snapshot)
    guard unmarked + unlisted > 0 else { return .nothingToRemove }
    // A malformed record may be any of the missing records.
    if unmarked > 0, unidentified > 0 { return .refused(.unidentifiedMalformed(unidentified)) }
    // What another remote had listed is none of this one's records, and no surprise.
    let foreign = try foreign(type, in: snapshot)
    let (missing, total) = (unmarked + unlisted - foreign, live + kept - foreign)
    // A file that was read while it was being written, or that was cut off, lists nothing.
    var isEmptied = checkpoint.sweep?.listed == 0 && shown > foreign
    // A remote that shows each deletion lists nothing only if it has lost its records, as a zone that
    // was deleted and made again has.
    if isEmptied, shown - foreign < emptiedRecords, !sweep.showsDeletions {
      // Other sources confirm each absence by a second listing, or by a lookup.
      let isConfirmed = try EmptyListing.isConfirmed(type, by: sweep.pass, in: snapshot)
      isEmptied = sweep.absence == .once && !isConfirmed
    }
    // What another query leaves out was asked for, and is no surprise either.
    let isMany = !checkpoint.hasNewQuery && missing > records && Double(missing) > Double(total) * share
    guard isEmptied || isMany else { return .allowed }
    return .refused(.massDeletion(missing: missing, of: total))
  }

  /// Counts the records to remove that a former remote has listed.
  ///
  /// - Complexity: O(*n*) in the unlisted records, if the type has had another remote.
  private func foreign(_ type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) -> Int {
    guard let epoch = try SourceExchange.epoch(of: type, in: snapshot) else { return 0 }
    var (count, portions) = (0, snapshot.portions(unmarked: type))
    while let rows = try portions.next() { count += rows.count { $0.version.isBefore(epoch) } }
    return count
  }

  /// Counts the entries to release, all entries, and new malformed ones without an id.
  private func survey(
    _ type: RecordType, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> (unlisted: Int, kept: Int, unidentified: Int) {
    let counts = try snapshot.withheldCounts(type)
    if counts.isEmpty { return (0, 0, 0) }
    let kept = Sweep.forgettable.reduce(0) { $0 + counts[$1, default: 0] }
    var (unlisted, unidentified) = (0, 0)
    var portions = snapshot.portions(withheld: type, Sweep.forgettable)
    while kept > 0, let entries = try portions.next() {
      unlisted += entries.count { sweep.isUnlisted($0) }
      unidentified += entries.count { isNewAndNameless($0) }
    }
    return (unlisted, kept, unidentified)
  }

  /// Whether a malformed record has no id and is newer than the previous sweep.
  ///
  /// An older one has caused no loss of a record.
  private func isNewAndNameless(_ entry: WithheldChange) -> Bool {
    guard entry.kind == .quarantined, entry.change.id == nil, entry.pass >= sweep.pass else { return false }
    // The fencing numbers decide the order, as a clock may have been corrected since.
    if let swept = checkpoint.sweptFence {
      guard case .sync(let fence) = entry.finder else { return false }
      return fence > swept
    }
    // Sweeps from before 2026-11 have recorded the time alone.
    return checkpoint.deletionsVerifiedAt.map { entry.since > $0 } ?? true
  }
}
