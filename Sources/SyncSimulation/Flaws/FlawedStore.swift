import InMemoryAdapters
import SyncModels
import SyncPorts

/// A store with a flaw.
struct FlawedStore<Base: LocalStore>: ForwardingStore {
  let base: Base
  let flaw: PortFlaw

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let flaw = flaw
    return try await base.write(authority) { (transaction) throws(SyncError) in
      try body(FlawedTransaction(transaction, flaw))
    }
  }
}

/// A transaction with a flaw.
private final class FlawedTransaction: ForwardingTransaction {
  private let flaw: PortFlaw

  init(_ base: any StoreTransaction, _ flaw: PortFlaw) {
    self.flaw = flaw
    super.init(base)
  }

  // MARK: What it forgets

  override func put(_ copies: [Record]) throws(SyncError) {
    try super.put(flaw == .storeForgetsACopy && copies.count > 1 ? Array(copies.dropLast()) : copies)
  }

  override func delete(_ tombstones: [Tombstone]) throws(SyncError) {
    try super.delete(flaw == .storeForgetsADeletion ? Array(tombstones.dropLast()) : tombstones)
  }

  override func withheld(_ entries: [WithheldChange]) throws(SyncError) {
    try super.withheld(flaw == .storeForgetsWhatWaits ? entries.filter { $0.kind != .parked } : entries)
  }

  override func release(_ keys: [WithheldChange.Key]) throws(SyncError) {
    if flaw != .storeKeepsWhatWasReleased { try super.release(keys) }
  }

  override func mark(_ ids: [RecordID]) throws(SyncError) {
    if flaw != .storeForgetsMarks { try super.mark(ids) }
  }

  override func setValue(_ value: [UInt8]?, forKey key: String) throws(SyncError) {
    if flaw == .storeForgetsAwaitedRecords, key == "edits/awaited" { return }
    try super.setValue(value, forKey: key)
  }

  override func queue(_ entries: [OutboxEntry]) throws(SyncError) {
    let ids = entries.map(\.id)
    // What is queued for the second time is about to be sent.
    if flaw == .storeForgetsAnEdit, try !super.outbox(for: ids).isEmpty { return try super.dequeue(ids) }
    try super.queue(entries)
  }

  override func dequeue(_ ids: [RecordID]) throws(SyncError) {
    if flaw != .storeKeepsSettledEdits { try super.dequeue(ids) }
  }

  override func log(_ conflicts: [Conflict]) throws(SyncError) {
    if flaw != .storeForgetsConflicts { try super.log(conflicts) }
  }

  // MARK: What it does not find

  override func referenced(among ids: [RecordID]) throws(SyncError) -> Set<RecordID> {
    flaw == .storeOverlooksReferrers ? [] : try super.referenced(among: ids)
  }

  override func absent(among ids: [RecordID]) throws(SyncError) -> [RecordID] {
    flaw == .storeOverlooksMissingTargets ? [] : try super.absent(among: ids)
  }

  override func parked(waitingFor ids: [RecordID], limit: Int) throws(SyncError) -> [WithheldChange] {
    flaw == .storeOverlooksWaiters ? [] : try super.parked(waitingFor: ids, limit: limit)
  }

  override func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry] {
    flaw == .storeOverlooksEdits ? [] : try super.outbox(for: ids)
  }

  override func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange] {
    flaw == .storeOverlooksWhatWaits ? [] : try super.withheld(for: keys)
  }

  override func unmarked(
    _ type: RecordType, afterKey: String?, limit: Int
  ) throws(SyncError) -> [Tombstone] {
    flaw == .storeOverlooksUnmarked ? [] : try super.unmarked(type, afterKey: afterKey, limit: limit)
  }
}
