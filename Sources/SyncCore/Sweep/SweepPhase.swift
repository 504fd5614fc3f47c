import SyncModels
import SyncPorts

/// Sweeps the types whose listings ended, and carries out their held deletions.
///
/// Types that refer to others come first.
struct SweepPhase: SyncPhase {
  var survey: Survey? {
    { (snapshot, session) throws(SyncError) in
      for entity in session.entities {
        let checkpoint = try snapshot.checkpoint(for: entity.type)
        if let checkpoint, checkpoint.inFlight == nil, checkpoint.sweep != nil { return true }
        if try snapshot.withheldCounts(entity.type)[.held, default: 0] > 0 { return true }
      }
      return false
    }
  }

  /// Carries out the sweeps and deletions that are due.
  ///
  /// A sweep that fails for its type alone stays due and is listed among the failures. The other
  /// sweeps go on.
  func run(in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    for entity in session.entities.reversed() {
      do throws(SyncError) {
        if try await sweep(entity, in: &session) == .stopped { return .stopped }
      } catch {
        guard error.endsOneTypeAlone else {
          session.failing = [entity.type]
          throw error
        }
        session.reportFailure(of: entity.type, error)
      }
      if try await HeldRelease(entity: entity).run(in: &session) == .stopped { return .stopped }
    }
    return .finished
  }

  private func sweep(
    _ entity: Entity, in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    let checkpoint = try await session.read { (snapshot) throws(SyncError) in
      try snapshot.checkpoint(for: entity.type)
    }
    guard let checkpoint, checkpoint.inFlight == nil, let due = checkpoint.sweep else { return .finished }
    // The publication of a whole type has already reported its refusal.
    if session.progress.result.refusedSweeps.contains(where: { $0.type == entity.type }) { return .finished }
    let sweep = Sweep(
      entity, context: session.sweepContext(pass: due.pass), passBefore: checkpoint.sweptPass,
      capabilities: session.environment.source.capabilities(of: entity.type))
    let verdict = try await verdict(on: sweep, checkpoint, in: session)
    if case .refused(let refusal) = verdict {
      session.report(refusal, of: entity.type)
      try await session.write { (transaction) throws(SyncError) in
        var checkpoint = checkpoint
        try EmptyListing.note(&checkpoint, of: entity.type, in: transaction)
        checkpoint.sweep?.refusal = refusal
        try transaction.setCheckpoint(checkpoint, for: entity.type)
      }
      return .finished
    }
    if entity.visibility == .wholeEntity { return try await sweepWhole(sweep, checkpoint, in: &session) }
    // What became live since the count was not missing when the listing ended.
    if case .allowed = verdict, try await remove(sweep, in: &session) == .stopped { return .stopped }
    let (now, fence) = (session.environment.clock.timestamp, session.fence)
    let isInDoubt = try await session.read { (snapshot) throws(SyncError) in
      try sweep.isAnythingInDoubt(in: snapshot)
    }
    try await save(checkpoint, of: entity, isLast: entity.type == session.entities.first?.type, in: session) {
      $0.endSweep(by: fence, at: now, isAnythingInDoubt: isInDoubt)
    }
    return .finished
  }

  /// Removes what the listing lacked, portion by portion.
  private func remove(_ sweep: Sweep, in session: inout SyncSession) async throws(SyncError) -> PhaseEnd {
    // A record to which only records of its own type refer is removed after those, so rounds repeat
    // until one removes nothing.
    var rounds = DwindlingRounds()
    repeat {
      if try await round(of: sweep, &rounds, in: &session) == .stopped { return .stopped }
    } while try rounds.end()
    return try await session.walk(of: sweep.entity.type) {
      (transaction, start: WithheldChange.Key?) throws(SyncError) in
      try sweep.forgetUnlisted(after: start, in: transaction)
    }
  }

  /// Sweeps a type that is shown whole, in one transaction.
  private func sweepWhole(
    _ sweep: Sweep, _ checkpoint: Checkpoint, in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    var absent: Set<RecordID>?
    if sweep.absence == .lookedUp {
      guard let answer = try await AbsenceCheck(sweep: sweep, session: session).run() else { return .stopped }
      session.progress.countRequests(of: sweep.entity.type, answer.requests)
      for tally in answer.tallies { session.report(tally, of: sweep.entity.type) }
      absent = answer.absent
    }
    let (confirmed, now, fence) = (absent, session.environment.clock.timestamp, session.fence)
    let tallies = try await session.write { (transaction) throws(SyncError) in
      var checkpoint = checkpoint
      let tallies = try sweep.removeAll(confirmed: confirmed, in: transaction)
      checkpoint.endSweep(
        by: fence, at: now, isAnythingInDoubt: try sweep.isAnythingInDoubt(in: transaction))
      try transaction.setCheckpoint(checkpoint, for: sweep.entity.type)
      try EmptyListing.forget(sweep.entity.type, in: transaction)
      return tallies
    }
    for tally in tallies { session.report(tally, of: sweep.entity.type) }
    return .finished
  }

  private func verdict(
    on sweep: Sweep, _ checkpoint: Checkpoint, in session: SyncSession
  ) async throws(SyncError) -> SweepGuard.Verdict {
    guard !session.request.allowsMassDeletion else { return .allowed }
    let guardian = SweepGuard(sweep: sweep, options: session.environment.options, checkpoint: checkpoint)
    // The count reads a whole index once, and the writer has memory for it anyway.
    return try await session.write { (transaction) throws(SyncError) in
      try guardian.verdict(in: transaction)
    }
  }

  /// Runs one round over the unmarked records.
  private func round(
    of sweep: Sweep, _ rounds: inout DwindlingRounds, in session: inout SyncSession
  ) async throws(SyncError) -> PhaseEnd {
    var wasStopped = false
    let end = try await session.stop.walk { (start: String?) throws(SyncError) in
      var answer: Lookup.Answer?
      if sweep.absence == .lookedUp {
        let lookup = Lookup(entity: sweep.entity, session: session)
        guard let found = try await lookup.ask(after: start) else {
          wasStopped = true
          return nil
        }
        session.progress.countRequests(of: sweep.entity.type, found.requests)
        answer = found
      }
      let present = answer
      let portion = try await session.write { (transaction) throws(SyncError) in
        try sweep.portion(after: start, answer: present.map { ($0.asked, $0.present) }, in: transaction)
      }
      session.report(portion.tally, of: sweep.entity.type)
      rounds.note(portion.ids)
      return portion.end
    }
    return wasStopped ? .stopped : end
  }

  private func save(
    _ checkpoint: Checkpoint, of entity: Entity, isLast: Bool = false, in session: SyncSession,
    _ change: (inout Checkpoint) -> Void
  ) async throws(SyncError) {
    var checkpoint = checkpoint
    change(&checkpoint)
    let saved = checkpoint
    let save = { @Sendable (transaction: any StoreTransaction) throws(SyncError) in
      try transaction.setCheckpoint(saved, for: entity.type)
      try EmptyListing.forget(entity.type, in: transaction)
    }
    if isLast {
      try await session.writeLast({ session.progress }, save)
    } else {
      try await session.write(save)
    }
  }
}

extension SyncSession {
  /// Returns the context of the merges in a sweep.
  func sweepContext(pass: Int64) -> MergeContext {
    var context = MergeContext(
      schema: schema, edits: environment.edits, finder: .sync(fence: fence),
      now: environment.clock.timestamp, lastPass: pass, markPass: pass)
    context.needed = needed
    return context
  }
}
