import SyncModels
import SyncPorts

/// The end of a complete listing of a type that is shown whole.
///
/// In one transaction the listed records are shown and the others removed. Absences that need
/// confirmation are confirmed before. Until then readers see the old state, even if the sync stops
/// meanwhile. The next sync resumes at the last page, or starts the listing over if the source
/// cannot resume.
struct WholeListing: Sendable {
  /// Pages before the last one that are committed with it.
  var pages: [PageTransaction]
  var last: PageTransaction
  /// The checkpoint while absences are being confirmed.
  var unpublished: Checkpoint
  /// The guard that may refuse the sweep; `nil` if a person has confirmed it.
  var guardian: SweepGuard?
  var sweep: Sweep
  var session: SyncSession

  /// Creates the commit of the listing that some pages end.
  ///
  /// It is `nil` if they end none, or the type is shown page by page.
  init?(endedBy pages: [PageTransaction], in session: SyncSession) {
    guard let last = pages.last, let unpublished = last.commit.unpublished else { return nil }
    let (environment, checkpoint) = (session.environment, last.commit.checkpoint)
    var context = last.context
    context.coverage = .delta
    context.stages = false
    sweep = Sweep(
      last.entity, context: context, passBefore: checkpoint.sweptPass,
      capabilities: environment.source.capabilities(of: last.entity.type))
    guardian =
      session.request.allowsMassDeletion
      ? nil : SweepGuard(sweep: sweep, options: environment.options, checkpoint: checkpoint)
    self.pages = pages.dropLast()
    self.last = last
    self.unpublished = unpublished
    self.session = session
  }

  /// Commits the pages, and publishes the type once all absences are confirmed.
  ///
  /// After a request to stop the sync before that, the type stays unpublished.
  ///
  /// - Throws: The remote's failure to confirm, if it ends the sync. If the failure concerns the
  ///   type alone, the copies are published without the sweep, which stays due.
  func commit() async throws(SyncError) -> CommittedPages {
    var committed = try await session.write { (transaction) throws(SyncError) in
      try stage(in: transaction)
    }
    guard committed.isUnconfirmed else { return committed }
    let check = AbsenceCheck(sweep: staging, session: session)
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
    let published = try await session.write { (transaction) throws(SyncError) in
      var published = CommittedPages()
      try publish(
        PageMerge(last.entity, context: last.context), confirmation, into: &published, in: transaction)
      return published
    }
    committed.changes += published.pages + published.changes
    return committed
  }

  /// How absences are confirmed.
  private enum Confirmation {
    /// By the listing alone.
    case byListing
    /// By a lookup: the remote does not have these.
    case absent(Set<RecordID>)
    /// Not at all: the remote did not answer.
    case failed
    /// Not yet: a person has to confirm the sweep first.
    case refused(SweepRefusal)
  }

  /// Merges the pages, and publishes the type if no lookup is needed.
  private func stage(in transaction: any StoreTransaction) throws(SyncError) -> CommittedPages {
    var committed = CommittedPages()
    for page in pages { committed.pages.append(try page.run(in: transaction)) }
    let merge = try last.merge(in: transaction)
    if let refusal = try guardian?.refusal(in: transaction) {
      committed.refusal = refusal
      try publish(merge, .refused(refusal), into: &committed, in: transaction)
    } else if sweep.absence == .lookedUp,
      try transaction.counts(sweep.entity.type, rows: true).rows?.unmarked != 0
    {
      committed.isUnconfirmed = true
      var staged = last
      staged.status = nil
      committed.pages.append(try staged.finish(merge, with: unpublished, in: transaction))
    } else {
      try publish(merge, .byListing, into: &committed, in: transaction)
    }
    return committed
  }

  private func publish(
    _ merge: PageMerge, _ confirmation: Confirmation, into committed: inout CommittedPages,
    in transaction: any StoreTransaction
  ) throws(SyncError) {
    var merge = merge
    var checkpoint = last.commit.checkpoint
    try last.publish(with: &merge, in: transaction)
    switch confirmation {
    case .byListing:
      committed.changes += try sweep.removeAll(confirmed: nil, in: transaction)
      try noteSwept(&checkpoint, in: transaction)
    case .absent(let absent):
      committed.changes += try sweep.removeAll(confirmed: absent, in: transaction)
      // A copy from before the listing may have waited for a record that the listing brought. That
      // copy was not looked up, so the sweep stays due.
      if try !isAnythingUnasked(besides: absent, in: transaction) {
        try noteSwept(&checkpoint, in: transaction)
      }
    case .failed:
      break
    case .refused(let refusal):
      try EmptyListing.note(&checkpoint, of: sweep.entity.type, in: transaction)
      checkpoint.sweep?.refusal = refusal
    }
    committed.pages.append(try last.finish(merge, with: checkpoint, in: transaction))
  }

  /// Whether live records are unlisted and were not looked up.
  private func isAnythingUnasked(
    besides asked: Set<RecordID>, in transaction: any StoreTransaction
  ) throws(SyncError) -> Bool {
    var portions = transaction.portions(unmarked: sweep.entity.type)
    while let unmarked = try portions.next() {
      if unmarked.contains(where: { !asked.contains($0.id) }) { return true }
    }
    return false
  }

  private func noteSwept(
    _ checkpoint: inout Checkpoint, in transaction: any StoreTransaction
  ) throws(SyncError) {
    checkpoint.endSweep(
      by: session.fence, at: sweep.context.now,
      isAnythingInDoubt: try sweep.isAnythingInDoubt(in: transaction))
    try EmptyListing.forget(sweep.entity.type, in: transaction)
  }

  /// The sweep before any record of the listing is shown.
  private var staging: Sweep {
    var sweep = sweep
    sweep.context.stages = true
    return sweep
  }
}
