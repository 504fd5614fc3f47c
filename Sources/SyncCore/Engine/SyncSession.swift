import SyncModels
import SyncPorts

/// The state that the phases of one sync share.
struct SyncSession: Sendable {
  /// The parts that the sync works with.
  ///
  /// A phase that used up the remote's budget of attempts lowers it for the phases after it.
  var environment: RunEnvironment
  let request: SyncRequest
  /// The types that are synced, targets of references first.
  let entities: [Entity]
  let lease: LeaseKeeper
  /// The sync's entry in the store's history.
  let entry: HistoryEntry
  let stop: StopSignal
  /// The results so far.
  var progress: SyncProgress
  /// The types whose status notes the error that ends the sync.
  var failing: [RecordType] = []
  /// How the push before the pulls ended; `nil` if there was none.
  var push: PushEnd?
  /// What edits need that the remote had refused when the pulls began; mostly nothing.
  var needed: NeededValues?
  /// The types whose edits the remote has rejected, whatever their content.
  var deniedTypes: Set<RecordType> = []

  /// Creates the session of a sync that has just acquired its lease.
  init(
    _ environment: RunEnvironment, _ request: SyncRequest, types: Set<RecordType>, lease: LeaseKeeper,
    entry: HistoryEntry, stop: StopSignal
  ) {
    self.environment = environment
    self.request = request
    entities = environment.schema.entities.filter { types.contains($0.type) }
    self.lease = lease
    self.entry = entry
    self.stop = stop
    progress = SyncProgress(order: environment.schema.entities.map(\.type))
  }

  /// The declarations of all types.
  var schema: SyncSchema { environment.schema }

  /// The lease's fencing number.
  var fence: Int64 { lease.fence }

  /// Whether the sync has to stop before its next step.
  var isStopped: Bool { stop.isRaised }

  /// Runs one transaction under the lease.
  func write<R: Sendable>(
    _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await entry.write(under: lease, body)
  }

  /// Runs the transaction after which the sync probably writes no more.
  ///
  /// It notes the end of the sync too, which otherwise takes a transaction of its own.
  ///
  /// - Parameter progress: The progress of the sync after the transaction.
  func writeLast<R: Sendable>(
    _ progress: @escaping @Sendable (R) -> SyncProgress,
    _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await entry.write(under: lease, ending: { (.finished, progress($0)) }, body)
  }

  /// Reads one state of the store.
  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await environment.store.read(body)
  }

  /// Counts and reports a transaction that merged no page.
  mutating func report(_ tally: Tally, of type: RecordType) {
    progress.count(tally)
    environment.emitChanges(tally, of: type)
  }

  /// Lists a refused sweep.
  mutating func report(_ refusal: SweepRefusal, of type: RecordType) {
    progress.add(refusal, of: type)
    environment.emit(.sweepRefused(type, refusal))
  }

  /// Lists a type's own failure; the other types go on.
  mutating func reportFailure(of type: RecordType, _ error: SyncError) {
    progress.addFailure(of: type, error)
    environment.emit(.entityFailed(type, error))
  }

  /// Merges withheld changes of a type again, portion by portion.
  ///
  /// - Parameters:
  ///   - start: The key after which the first portion begins.
  ///   - merge: Releases those of a portion's entries that are due, which follow a key. The last
  ///     portion is empty.
  mutating func replay(
    _ entity: Entity, _ kind: WithheldChange.Kind, after start: WithheldChange.Key? = nil,
    _ merge:
      @escaping @Sendable (
        inout PageMerge, [WithheldChange], WithheldChange.Key?, any StoreTransaction
      ) throws(SyncError) -> Void
  ) async throws(SyncError) -> PhaseEnd {
    let (schema, context) = (schema, environment.releaseContext(fence: fence, markPass: nil))
    return try await walk(from: start, of: entity.type) { (transaction, start) throws(SyncError) in
      let entries = try transaction.portion(withheld: entity.type, [kind], after: start)
      // Records of the listing that waits for its sweep must not be swept.
      var context = context
      context.markPass = try transaction.checkpoint(for: entity.type)?.markPass
      var page = PageMerge(entity, context: context)
      try merge(&page, entries, start, transaction)
      try ArrivedDuplicates.remember(page.tally.changed, of: schema, in: transaction)
      return Portion(tally: page.tally, end: entries.last?.key)
    }
  }

  /// Runs a transaction for each portion of a list, until its end or a stop.
  ///
  /// - Parameters:
  ///   - start: The place after which the list begins; `nil` for its beginning.
  ///   - type: The type whose records change.
  ///   - use: Receives the records of each committed step.
  mutating func walk<Place: Sendable>(
    from start: Place? = nil, of type: RecordType,
    _ step: @escaping @Sendable (any StoreTransaction, Place?) throws(SyncError) -> Portion<Place>,
    use: ([RecordID]) -> Void = { _ in }
  ) async throws(SyncError) -> PhaseEnd {
    try await stop.walk(from: start) { (start) throws(SyncError) in
      let portion = try await write { (transaction) throws(SyncError) in try step(transaction, start) }
      report(portion.tally, of: type)
      use(portion.ids)
      return portion.end
    }
  }
}

/// The progress of a sync, type by type.
struct SyncProgress: Sendable {
  private(set) var result = SyncResult()
  /// The types of which records were deleted, changed by a push, or gave up a value of a refused edit.
  ///
  /// It may be the unique value that the edit needs.
  var freed: Set<RecordType> = []
  private let order: [RecordType]

  /// Creates an empty progress.
  init(order: [RecordType]) {
    self.order = order
  }

  /// Lists a type in the result.
  mutating func add(_ type: RecordType) { _ = index(of: type) }

  /// Counts requests.
  mutating func countRequests(of type: RecordType, _ count: Int) {
    result.entities[index(of: type)].counts.requests += count
  }

  /// Counts a committed transaction.
  mutating func count(_ tally: Tally) {
    for (type, counts) in tally.counts {
      result.entities[index(of: type)].counts += counts
      if counts.deleted > 0 { freed.insert(type) }
    }
    freed.formUnion(tally.freed)
  }

  /// Counts the records that a collapse of a type's duplicates changed for readers.
  mutating func countCollapsed(_ changed: ChangedRecords, of type: RecordType) {
    switch changed {
    case .records(let ids): for id in ids { result.entities[index(of: id.type)].counts.replayed += 1 }
    case .everything: result.entities[index(of: type)].counts.replayed += ChangedRecords.limit
    }
  }

  /// Returns the progress after some more transactions.
  func after(_ tallies: [Tally]) -> SyncProgress {
    var progress = self
    for tally in tallies { progress.count(tally) }
    return progress
  }

  /// The counts of pushed edits.
  var pushed: PushCounts {
    get { result.pushed }
    set { result.pushed = newValue }
  }

  /// Counts conflicts of pushed edits.
  mutating func countConflicts(of type: RecordType, _ count: Int) {
    result.entities[index(of: type)].counts.conflicts += count
  }

  /// Lists a type's own failure.
  mutating func addFailure(of type: RecordType, _ error: SyncError) {
    result.failures.append((type, error))
  }

  /// Lists a refused sweep.
  mutating func add(_ refusal: SweepRefusal, of type: RecordType) {
    result.refusedSweeps.append((type, refusal))
  }

  /// Returns the result at the end.
  func finished(after duration: Duration, wasCancelled: Bool) -> SyncResult {
    var result = result
    result.duration = duration
    result.wasCancelled = wasCancelled
    return result
  }

  private mutating func index(of type: RecordType) -> Int {
    if let index = result.entities.firstIndex(where: { $0.type == type }) { return index }
    let rank = order.firstIndex(of: type) ?? order.count
    let index =
      result.entities.firstIndex { (order.firstIndex(of: $0.type) ?? order.count) > rank }
      ?? result.entities.count
    result.entities.insert((type, SyncCounts()), at: index)
    return index
  }
}
