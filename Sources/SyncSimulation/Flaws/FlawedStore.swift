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
    return try await base.write(try await believed(authority)) { (transaction) throws(SyncError) in
      try body(FlawedTransaction(transaction, flaw))
    }
  }

  // MARK: The lease

  /// The authority that the store compares with its lease.
  private func believed(_ authority: WriteAuthority) async throws(SyncError) -> WriteAuthority {
    switch flaw {
    case .leaseWithoutFence: return .app
    case .fenceOutsideTransaction:
      // The fence is compared before the transaction begins, and not in it.
      try await base.write(authority) { _ in }
      for _ in 1...3 { await Task.yield() }
      return .app
    default: return authority
    }
  }

  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    let kept = kept(duration)
    return try await base.acquireLease(for: kept).postponed(by: duration - kept)
  }

  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    let kept = kept(duration)
    return try await base.renew(lease, for: kept).postponed(by: duration - kept)
  }

  /// How long the store remembers a lease that lasts for a duration.
  private func kept(_ duration: Duration) -> Duration {
    switch flaw {
    case .leaseUnheeded: .zero
    case .leaseForEver: .seconds(1 << 32)
    default: duration
    }
  }
}

extension Lease {
  fileprivate func postponed(by duration: Duration) -> Lease {
    Lease(fence: fence, expiresAt: expiresAt + duration)
  }
}

/// A transaction with a flaw.
private final class FlawedTransaction: ForwardingTransaction {
  let base: any StoreTransaction
  private let flaw: PortFlaw

  init(_ base: any StoreTransaction, _ flaw: PortFlaw) {
    (self.base, self.flaw) = (base, flaw)
  }

  // MARK: What it forgets

  func apply(_ changes: StoreChanges) throws(SyncError) {
    var changes = changes
    switch flaw {
    case .storeForgetsACopy: if changes.put.count > 1 { changes.put.removeLast() }
    case .storeForgetsADeletion: changes.deleted = changes.deleted.dropLast()
    case .storeForgetsWhatWaits: changes.withheld.removeAll { $0.kind == .parked }
    case .storeKeepsWhatWasReleased: changes.released = []
    case .storeForgetsMarks: changes.marked = []
    case .storeForgetsAwaitedRecords: changes.values.removeAll { $0.key == "edits/awaited" }
    case .storeForgetsAnEdit:
      // A change is queued for the second time just before it is sent.
      let ids = changes.queued.map(\.id)
      if try !base.outbox(for: ids).isEmpty {
        (changes.dequeued, changes.queued) = (changes.dequeued + ids, [])
      }
    case .storeKeepsSettledEdits: changes.dequeued = []
    case .storeForgetsConflicts: changes.conflicts = []
    default: break
    }
    try base.apply(changes)
  }

  func changes(after position: StorePosition?) throws(SyncError) -> CommittedChanges {
    var changes = try base.changes(after: position)
    // Of pages that are committed together, one record is not told of.
    if flaw == .storeForgetsAnObservedChange, case .records(let ids) = changes.scope, ids.count > 1 {
      changes.scope = .records(ids.dropLast())
    }
    return changes
  }

  // MARK: What it does not find

  func referenced(among ids: [RecordID]) throws(SyncError) -> Set<RecordID> {
    flaw == .storeOverlooksReferrers ? [] : try base.referenced(among: ids)
  }

  func states(of ids: [RecordID], comparing payloads: [Payload]) throws(SyncError) -> [StoredState?] {
    let states = try base.states(of: ids, comparing: payloads)
    // The world's own checks read one state at a time.
    guard flaw == .storeOverlooksMissingTargets, payloads.isEmpty, ids.count > 1 else { return states }
    return states.map { state in
      var live =
        state
        ?? StoredState(version: .unversioned, isDeleted: false, hasSamePayload: false, isMarked: false)
      live.isDeleted = false
      return live
    }
  }

  func withheld(
    _ relation: WithheldChange.Relation, _ ids: [RecordID], kinds: Set<WithheldChange.Kind>,
    after: WithheldChange.Key?, limit: Int
  ) throws(SyncError) -> [WithheldChange] {
    if flaw == .storeOverlooksWaiters, relation == .waitingFor { return [] }
    return try base.withheld(relation, ids, kinds: kinds, after: after, limit: limit)
  }

  func outbox(for ids: [RecordID]) throws(SyncError) -> [OutboxEntry] {
    flaw == .storeOverlooksEdits ? [] : try base.outbox(for: ids)
  }

  func withheld(for keys: [WithheldChange.Key]) throws(SyncError) -> [WithheldChange] {
    flaw == .storeOverlooksWhatWaits ? [] : try base.withheld(for: keys)
  }

  func rows(
    _ type: RecordType, _ selection: RowSelection, after key: String?, limit: Int
  ) throws(SyncError) -> [StoredRow] {
    if flaw == .storeOverlooksUnmarked, selection == .unmarked { return [] }
    return try base.rows(type, selection, after: key, limit: limit)
  }
}
