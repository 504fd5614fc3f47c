import SyncModels

/// What a sync has done so far, type by type.
struct SyncProgress: Sendable {
  private(set) var result = SyncResult()
  private let order: [RecordType]

  /// Nothing done yet.
  init(order: [RecordType]) {
    self.order = order
  }

  /// The pull of a type begins: it is reported even if nothing comes.
  mutating func noteStart(of type: RecordType) {
    _ = index(of: type)
  }

  /// Requests were made.
  mutating func noteRequests(of type: RecordType, _ count: Int) {
    result.entities[index(of: type)].counts.requests += count
  }

  /// A transaction was committed.
  mutating func note(_ tally: Tally) {
    for (type, counts) in tally.counts {
      result.entities[index(of: type)].counts += counts
    }
  }

  /// Edits were pushed.
  mutating func note(_ counts: PushCounts) {
    result.pushed = counts
  }

  /// Pushed edits met others.
  mutating func noteConflicts(of type: RecordType, _ count: Int) {
    result.entities[index(of: type)].counts.conflicts += count
  }

  /// A type's own pass failed.
  mutating func noteFailure(of type: RecordType, _ error: SyncError) {
    result.failures.append((type, error))
  }

  /// A sweep was not carried out.
  mutating func note(_ refusal: Checkpoint.Refusal, of type: RecordType) {
    result.refusedSweeps.append((type, refusal))
  }

  /// The result, at the end.
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
