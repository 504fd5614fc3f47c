import SyncModels
import SyncPorts

/// What follows the pulls, the types that refer to others first: sweeps, and deletions that were held.
struct ClosingPhase {
  let environment: RunEnvironment
  let request: SyncRequest
  let lease: Lease
  let stop: StopSignal
  private(set) var progress: SyncProgress

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

  /// Sweeps and deletes what is due.
  ///
  /// - Returns: Whether it came to the end; `false` when somebody asked to stop. What is left is due at the next sync.
  mutating func run(_ entities: [Entity]) async throws(SyncError) -> Bool {
    for entity in entities.reversed() {
      guard try await sweep(entity), try await releaseHeld(of: entity) else { return false }
    }
    return true
  }

  // MARK: Sweeps

  private mutating func sweep(_ entity: Entity) async throws(SyncError) -> Bool {
    let checkpoint = try await environment.store.read { (snapshot) throws(SyncError) in
      try snapshot.checkpoint(for: entity.type)
    }
    #if MUTANTS
      if Mutant.sweepNever.isActive { return true }
    #endif
    guard let checkpoint, checkpoint.inFlight == nil, let due = checkpoint.sweep else { return true }
    let sweep = plan(of: entity, pass: due.pass, after: checkpoint.sweptPass)
    if let refusal = try await refusal(of: sweep, lastSwept: checkpoint.deletionsVerifiedAt) {
      progress.note(refusal, of: entity.type)
      environment.emit(.sweepRefused(entity.type, refusal))
      try await save(checkpoint, of: entity) { $0.sweep?.refusal = refusal }
      return true
    }
    // A record that only its like refers to goes once those are gone: until a round removes nothing.
    while true {
      guard let removed = try await round(of: sweep) else { return false }
      if removed == 0 { break }
    }
    guard try await forgetUnlisted(by: sweep) else { return false }
    let now = environment.clock.timestamp
    let isInDoubt = try await environment.store.read { (snapshot) throws(SyncError) in
      try sweep.isAnythingInDoubt(in: snapshot)
    }
    try await save(checkpoint, of: entity) { checkpoint in
      checkpoint.needsSecondListing = isInDoubt
      checkpoint.sweep = nil
      checkpoint.sweptPass = due.pass
      checkpoint.deletionsVerifiedAt = now
    }
    return true
  }

  private func plan(of entity: Entity, pass: Int64, after passBefore: Int64) -> Sweep {
    let capabilities = environment.source.capabilities
    let absence: Sweep.Absence =
      switch capabilities.listing {
      case .snapshot: .once
      case .moving: capabilities.supportsLookup ? .lookedUp : .twice
      }
    return Sweep(
      entity: entity, context: context(pass: pass), pass: pass, passBefore: passBefore, absence: absence)
  }

  private func context(pass: Int64) -> MergeContext {
    MergeContext(
      graph: environment.graph, edits: environment.edits, fence: lease.fence,
      now: environment.clock.timestamp,
      source: environment.source.capabilities,
      pass: Checkpoint.Pass(number: pass, base: nil, coverage: .changes), markPass: pass, stages: false)
  }

  private func refusal(
    of sweep: Sweep, lastSwept: Timestamp?
  ) async throws(SyncError) -> Checkpoint.Refusal? {
    guard !request.allowsMassDeletion else { return nil }
    let options = environment.options
    let guardian = SweepGuard(
      sweep: sweep, records: options.massDeletionRecords, share: options.massDeletionShare,
      lastSwept: lastSwept)
    // Counting reads a whole index once, and the writer has memory for it anyway.
    return try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
      try guardian.refusal(in: transaction)
    }
  }

  /// One round over everything that is not marked; `nil` if somebody asked to stop.
  private mutating func round(of sweep: Sweep) async throws(SyncError) -> Int? {
    var removed = 0
    var last: String?
    repeat {
      if stop.isRaised { return nil }
      var answer: Lookup.Answer?
      if sweep.absence == .lookedUp {
        let lookup = Lookup(entity: sweep.entity, environment: environment, stop: stop)
        guard let found = try await lookup.ask(after: last) else { return nil }
        progress.noteRequests(of: sweep.entity.type, found.requests)
        answer = found
      }
      let (start, present) = (last, answer)
      let portion = try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
        try sweep.portion(after: start, answer: present.map { ($0.asked, $0.present) }, in: transaction)
      }
      note(portion.tally, of: sweep.entity.type)
      removed += portion.removed
      last = portion.lastKey
    } while last != nil
    return removed
  }

  private func forgetUnlisted(by sweep: Sweep) async throws(SyncError) -> Bool {
    var last: SetAside.Key?
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
    #if MUTANTS
      if Mutant.heldForEver.isActive { return true }
    #endif
    let deletions = HeldDeletions(entity: entity, context: context(pass: 0))
    while true {
      guard let deleted = try await round(of: deletions) else { return false }
      if deleted == 0 { return true }
    }
  }

  /// One round over what is held; `nil` if somebody asked to stop.
  private mutating func round(of deletions: HeldDeletions) async throws(SyncError) -> Int? {
    let type = deletions.entity.type
    let held = try await environment.store.read { (snapshot) throws(SyncError) in
      try snapshot.setAsideCounts(type)[.held, default: 0]
    }
    guard held > 0 else { return 0 }
    var released = 0
    var last: SetAside.Key?
    repeat {
      if stop.isRaised { return nil }
      let start = last
      let portion = try await environment.store.write(.lease(lease)) { (transaction) throws(SyncError) in
        try deletions.portion(after: start, in: transaction)
      }
      note(portion.tally, of: type)
      released += portion.released
      last = portion.next
    } while last != nil
    return released
  }

  private mutating func note(_ tally: Tally, of type: RecordType) {
    progress.note(tally)
    environment.emitChanges(tally, of: type)
  }
}
