import SyncModels

/// The progress of a sync, type by type.
struct SyncProgress: Sendable {
  private(set) var result = SyncResult()
  private let order: [RecordType]

  /// Creates an empty progress.
  init(order: [RecordType]) {
    self.order = order
  }

  /// Records that the pull of a type begins, so that the result lists the type.
  mutating func noteStart(of type: RecordType) {
    _ = index(of: type)
  }

  /// Records requests.
  mutating func noteRequests(of type: RecordType, _ count: Int) {
    result.entities[index(of: type)].counts.requests += count
  }

  /// Records a committed transaction.
  mutating func note(_ tally: Tally) {
    for (type, counts) in tally.counts {
      result.entities[index(of: type)].counts += counts
    }
  }

  /// Records the records that a collapse of a type's duplicates changed for readers.
  mutating func noteCollapsed(_ changed: SyncEvent.ChangedRecords, of type: RecordType) {
    switch changed {
    case .some(let ids): for id in ids { result.entities[index(of: id.type)].counts.replayed += 1 }
    case .many: result.entities[index(of: type)].counts.replayed += SyncEvent.ChangedRecords.limit
    }
  }

  /// Returns the progress after some more transactions.
  func after(_ tallies: [Tally]) -> SyncProgress {
    var progress = self
    for tally in tallies { progress.note(tally) }
    return progress
  }

  /// The counts of pushed edits.
  var pushed: PushCounts {
    get { result.pushed }
    set { result.pushed = newValue }
  }

  /// Records conflicts of pushed edits.
  mutating func noteConflicts(of type: RecordType, _ count: Int) {
    result.entities[index(of: type)].counts.conflicts += count
  }

  /// Records that a type's own pass failed.
  mutating func noteFailure(of type: RecordType, _ error: SyncError) {
    result.failures.append((type, error))
  }

  /// Records that a sweep was refused.
  mutating func note(_ refusal: Checkpoint.Refusal, of type: RecordType) {
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
