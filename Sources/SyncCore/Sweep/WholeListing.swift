import SyncModels
import SyncPorts

/// The end of a complete listing of a type that is shown whole: what was listed is shown, and what was not is gone, in one transaction.
///
/// What has to be confirmed is confirmed before. Until then readers see the old state, also when the sync stops meanwhile; the next one goes on with
/// the last page, or starts the listing over where the source cannot resume.
struct WholeListing: Sendable {
  /// Pages that come before the last one, and are committed with it.
  var pages: [PageTransaction]
  var last: PageTransaction
  /// The checkpoint while something has to be confirmed.
  var unpublished: Checkpoint
  /// What may refuse the sweep; `nil` where a person has allowed it.
  var guardian: SweepGuard?
  var sweep: Sweep
  var environment: RunEnvironment
  var lease: Lease
  var stop: StopSignal

  /// Commits the pages, and publishes the type unless the sync is asked to stop before all is confirmed.
  ///
  /// - Throws: The remote's failure to confirm, if it ends the sync. Where it concerns the type alone, the copies are published without the sweep,
  ///   which stays due.
  func commit() async throws(SyncError) -> CommittedPages {
    var committed = try await environment.store.write(.lease(lease)) { (open) throws(SyncError) in
      try stage(in: open)
    }
    guard committed.isUnconfirmed else { return committed }
    let check = AbsenceCheck(sweep: staging, environment: environment, lease: lease, stop: stop)
    let confirmation: Confirmation
    do throws(SyncError) {
      guard let answer = try await check.run() else { return committed }
      committed.changes += answer.tallies
      committed.requests += answer.requests
      confirmation = .absent(answer.absent)
    } catch {
      guard error.endsOneTypeAlone else { throw error }
      confirmation = .failed
    }
    let published = try await environment.store.write(.lease(lease)) { (open) throws(SyncError) in
      var published = CommittedPages()
      try publish(
        PageMerge(last.entity, context: last.context), confirmation, into: &published, in: open)
      return published
    }
    committed.changes += published.pages + published.changes
    return committed
  }

  /// How absences are confirmed.
  private enum Confirmation {
    /// Nothing had to be asked.
    case byListing
    /// The remote does not have these.
    case absent(Set<RecordID>)
    /// The remote did not answer.
    case failed
    /// A person has to agree to the sweep first.
    case refused(Checkpoint.Refusal)
  }

  /// Merges the pages, and publishes the type if nothing has to be asked for that.
  private func stage(in open: any StoreTransaction) throws(SyncError) -> CommittedPages {
    var committed = CommittedPages()
    for page in pages { committed.pages.append(try page.run(in: open)) }
    let merge = try last.merge(in: open)
    if let refusal = try guardian?.refusal(in: open) {
      committed.refusal = refusal
      try publish(merge, .refused(refusal), into: &committed, in: open)
    } else if sweep.absence == .lookedUp, try open.counts(sweep.entity.type, rows: true).rows?.unmarked != 0 {
      committed.isUnconfirmed = true
      var staged = last
      staged.status = nil
      committed.pages.append(try staged.finish(merge, with: unpublished, in: open))
    } else {
      try publish(merge, .byListing, into: &committed, in: open)
    }
    return committed
  }

  private func publish(
    _ merge: PageMerge, _ confirmation: Confirmation, into committed: inout CommittedPages,
    in open: any StoreTransaction
  ) throws(SyncError) {
    var merge = merge
    var checkpoint = last.commit.checkpoint
    try last.publish(with: &merge, in: open)
    switch confirmation {
    case .byListing:
      committed.changes += try sweep.removeAll(confirmed: nil, in: open)
      try noteSwept(&checkpoint, in: open)
    case .absent(let absent):
      committed.changes += try sweep.removeAll(confirmed: absent, in: open)
      // A copy from before the listing may have waited for a record that it brought. Nobody has asked about that one, so the sweep stays due.
      if try !isAnythingUnasked(besides: absent, in: open) { try noteSwept(&checkpoint, in: open) }
    case .failed:
      break
    case .refused(let refusal):
      checkpoint.sweep?.refusal = refusal
    }
    committed.pages.append(try last.finish(merge, with: checkpoint, in: open))
  }

  /// Whether records are live now that the listing lacked, and that the remote was not asked about.
  private func isAnythingUnasked(
    besides asked: Set<RecordID>, in open: any StoreTransaction
  ) throws(SyncError) -> Bool {
    var last: String?
    while true {
      let unmarked = try open.portion(unmarked: sweep.entity.type, after: last)
      guard let end = unmarked.last else { return false }
      if unmarked.contains(where: { !asked.contains($0.id) }) { return true }
      last = end.id.key
    }
  }

  private func noteSwept(
    _ checkpoint: inout Checkpoint, in open: any StoreTransaction
  ) throws(SyncError) {
    checkpoint.noteSwept(
      by: lease.fence, at: sweep.context.now, isAnythingInDoubt: try sweep.isAnythingInDoubt(in: open))
  }

  /// The sweep while nothing of the listing is shown yet.
  private var staging: Sweep {
    var sweep = sweep
    sweep.context.stages = true
    return sweep
  }
}

/// What became of some pages of one type.
struct CommittedPages: Sendable {
  /// What each page did.
  var pages: [Tally] = []
  /// What was done besides: sweeps, and answers about single records.
  var changes: [Tally] = []
  /// Requests that were made to confirm what a listing lacked.
  var requests = 0
  /// Why the sweep of a whole type was not carried out.
  var refusal: Checkpoint.Refusal?
  /// Whether the type is not shown yet, because something has to be confirmed before.
  var isUnconfirmed = false
}
