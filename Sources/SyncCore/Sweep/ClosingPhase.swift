import SyncModels
import SyncPorts

/// The phase after the pulls: sweeps and held deletions.
///
/// Types that refer to others come first.
struct ClosingPhase {
  let environment: RunEnvironment
  let request: SyncRequest
  let lease: Lease
  let stop: StopSignal
  private(set) var progress: SyncProgress
  /// The type whose sweep ended the sync.
  private(set) var failedType: RecordType?

  init(
    environment: RunEnvironment, request: SyncRequest, lease: Lease, stop: StopSignal,
    progress: SyncProgress
  ) {
    self.environment = environment
    self.request = request
    self.lease = lease
    self.stop = stop
    self.progress = progress
  }

  /// Carries out the sweeps and deletions that are due.
  ///
  /// A sweep that fails for its type alone stays due and is listed among the failures. The other
  /// sweeps go on.
  ///
  /// - Returns: Whether all was done; `false` after a request to stop. The rest is due at the next
  ///   sync.
  mutating func run(_ entities: [Entity]) async throws(SyncError) -> Bool {
    for entity in entities.reversed() {
      do throws(SyncError) {
        guard try await sweep(entity) else { return false }
      } catch {
        guard error.endsOneTypeAlone else {
          failedType = entity.type
          throw error
        }
        progress.noteFailure(of: entity.type, error)
        environment.emit(.entityFailed(entity.type, error))
      }
      guard try await releaseHeld(of: entity) else { return false }
    }
    return true
  }

  // MARK: Sweeps

  private mutating func sweep(_ entity: Entity) async throws(SyncError) -> Bool {
    let checkpoint = try await environment.store.read { (snapshot) throws(SyncError) in
      try snapshot.checkpoint(for: entity.type)
    }
    guard let checkpoint, checkpoint.inFlight == nil, let due = checkpoint.sweep else { return true }
    // The publication of a whole type has already reported its refusal.
    if progress.result.refusedSweeps.contains(where: { $0.type == entity.type }) { return true }
    let sweep = Sweep(
      entity, context: context(pass: due.pass), passBefore: checkpoint.sweptPass,
      capabilities: environment.source.capabilities)
    if let refusal = try await refusal(of: sweep, checkpoint) {
      progress.note(refusal, of: entity.type)
      environment.emit(.sweepRefused(entity.type, refusal))
      try await save(checkpoint, of: entity) { $0.sweep?.refusal = refusal }
      return true
    }
    if entity.visibility == .wholeEntity {
      guard try await sweepWhole(sweep, checkpoint) else { return false }
      return true
    }
    // A record to which only records of its own type refer is removed after those, so rounds repeat
    // until one removes nothing.
    var rounds = DwindlingRounds()
    repeat {
      guard try await round(of: sweep, &rounds) else { return false }
    } while try rounds.end()
    guard try await forgetUnlisted(by: sweep) else { return false }
    let (now, fence) = (environment.clock.timestamp, lease.fence)
    let isInDoubt = try await environment.store.read { (snapshot) throws(SyncError) in
      try sweep.isAnythingInDoubt(in: snapshot)
    }
    try await save(checkpoint, of: entity) {
      $0.noteSwept(by: fence, at: now, isAnythingInDoubt: isInDoubt)
    }
    return true
  }

  /// Sweeps a type that is shown whole, in one transaction.
  ///
  /// - Returns: `false` after a request to stop.
  private mutating func sweepWhole(_ sweep: Sweep, _ checkpoint: Checkpoint) async throws(SyncError) -> Bool {
    var absent: Set<RecordID>?
    if sweep.absence == .lookedUp {
      let check = AbsenceCheck(sweep: sweep, environment: environment, lease: lease, stop: stop)
      guard let answer = try await check.run() else { return false }
      progress.noteRequests(of: sweep.entity.type, answer.requests)
      for tally in answer.tallies { note(tally, of: sweep.entity.type) }
      absent = answer.absent
    }
    let (confirmed, now, fence) = (absent, environment.clock.timestamp, lease.fence)
    let tallies = try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      var checkpoint = checkpoint
      let tallies = try sweep.removeAll(confirmed: confirmed, in: transaction)
      checkpoint.noteSwept(
        by: fence, at: now, isAnythingInDoubt: try sweep.isAnythingInDoubt(in: transaction))
      try transaction.setCheckpoint(checkpoint, for: sweep.entity.type)
      return tallies
    }
    for tally in tallies { note(tally, of: sweep.entity.type) }
    return true
  }

  private func context(pass: Int64) -> MergeContext {
    MergeContext(
      schema: environment.schema, edits: environment.edits, finder: .sync(fence: lease.fence),
      now: environment.clock.timestamp,
      source: environment.source.capabilities,
      pass: Checkpoint.Pass(number: pass, base: nil, coverage: .changes), markPass: pass, stages: false)
  }

  private func refusal(
    of sweep: Sweep, _ checkpoint: Checkpoint
  ) async throws(SyncError) -> Checkpoint.Refusal? {
    guard !request.allowsMassDeletion else { return nil }
    let guardian = SweepGuard(sweep: sweep, options: environment.options, checkpoint: checkpoint)
    // The count reads a whole index once, and the writer has memory for it anyway.
    return try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      try guardian.refusal(in: transaction)
    }
  }

  /// Runs one round over the unmarked records.
  ///
  /// - Returns: `false` after a request to stop.
  private mutating func round(
    of sweep: Sweep, _ rounds: inout DwindlingRounds
  ) async throws(SyncError) -> Bool {
    var last: String?
    repeat {
      if stop.isRaised { return false }
      var answer: Lookup.Answer?
      if sweep.absence == .lookedUp {
        let lookup = Lookup(entity: sweep.entity, environment: environment, stop: stop)
        guard let found = try await lookup.ask(after: last) else { return false }
        progress.noteRequests(of: sweep.entity.type, found.requests)
        answer = found
      }
      let (start, present) = (last, answer)
      let portion = try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
        try sweep.portion(after: start, answer: present.map { ($0.asked, $0.present) }, in: transaction)
      }
      note(portion.tally, of: sweep.entity.type)
      rounds.note(portion.removed)
      last = portion.lastKey
    } while last != nil
    return true
  }

  private func forgetUnlisted(by sweep: Sweep) async throws(SyncError) -> Bool {
    var last: WithheldChange.Key?
    repeat {
      if stop.isRaised { return false }
      let start = last
      last = try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
        try sweep.forgetUnlisted(after: start, in: transaction)
      }
    } while last != nil
    return true
  }

  private func save(
    _ checkpoint: Checkpoint, of entity: Entity, _ change: (inout Checkpoint) -> Void
  ) async throws(SyncError) {
    var checkpoint = checkpoint
    change(&checkpoint)
    let saved = checkpoint
    try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      try transaction.setCheckpoint(saved, for: entity.type)
    }
  }

  // MARK: Held deletions

  private mutating func releaseHeld(of entity: Entity) async throws(SyncError) -> Bool {
    let deletions = HeldDeletions(entity: entity, context: context(pass: 0))
    var (rounds, circles) = (DwindlingRounds(), DwindlingRounds())
    while true {
      guard try await round(of: deletions, &rounds) else { return false }
      if try rounds.end() { continue }
      circles.note(try await releaseCircles(of: entity))
      if try !circles.end() { return true }
    }
  }

  /// Deletes records to which only each other refer.
  ///
  /// - Returns: The deleted records.
  private mutating func releaseCircles(of entity: Entity) async throws(SyncError) -> [RecordID] {
    guard entity.refersToItself, try await isAnythingHeld(of: entity.type) else { return [] }
    let circles = HeldCircles(entity: entity, context: context(pass: 0))
    let (tally, deleted) = try await environment.store.write(.lease(lease)) {
      (transaction) throws(SyncError) in
      try circles.release(in: transaction)
    }
    note(tally, of: entity.type)
    return deleted
  }

  private func isAnythingHeld(of type: RecordType) async throws(SyncError) -> Bool {
    try await environment.store.read { (snapshot) throws(SyncError) in
      try snapshot.withheldCounts(type)[.held, default: 0] > 0
    }
  }

  /// Runs one round over the held deletions.
  ///
  /// - Returns: `false` after a request to stop.
  private mutating func round(
    of deletions: HeldDeletions, _ rounds: inout DwindlingRounds
  ) async throws(SyncError) -> Bool {
    let type = deletions.entity.type
    guard try await isAnythingHeld(of: type) else { return true }
    var last: WithheldChange.Key?
    repeat {
      if stop.isRaised { return false }
      let start = last
      let portion = try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
        try deletions.portion(after: start, in: transaction)
      }
      note(portion.tally, of: type)
      rounds.note(portion.released)
      last = portion.next
    } while last != nil
    return true
  }

  private mutating func note(_ tally: Tally, of type: RecordType) {
    progress.note(tally)
    environment.emitChanges(tally, of: type)
  }
}
