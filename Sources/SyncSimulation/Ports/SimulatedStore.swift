import InMemoryAdapters
import SyncModels
import SyncPorts
import Synchronization

/// The store for one process of a world.
///
/// Calls fail, stall and kill the process, and every commit is checked.
final class SimulatedStore: LocalStore {
  private let store: any LocalStore
  private let incarnation: Incarnation
  /// Whether its writes make the store forget a person.
  private let isForgetting: Bool
  /// The writes that have begun and not ended.
  private let writes = Atomic(0)

  init(_ store: any LocalStore, of incarnation: Incarnation, isForgetting: Bool = false) {
    self.isForgetting = isForgetting
    self.store = incarnation.world.flaw.map { Self.store(store, with: $0) } ?? store
    self.incarnation = incarnation
  }

  private static func store(_ store: some LocalStore, with flaw: PortFlaw) -> any LocalStore {
    FlawedStore(base: store, flaw: flaw)
  }

  func register(_ schema: SyncSchema) async throws(SyncError) {
    try await incarnation.around(.register) { () async throws(SyncError) in
      try await store.register(schema)
      guard incarnation.world.shape.hazards.contains(.changingDeclarations) else { return }
      let watch = incarnation.world.watch
      watch.redeclared(try await store.read { (snapshot) throws(SyncError) in try watch.view(of: snapshot) })
    }
  }

  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await incarnation.around(.read) { () async throws(SyncError) -> R in try await store.read(body) }
  }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let (watch, incarnation) = (incarnation.world.watch, incarnation)
    writes.add(1, ordering: .relaxed)
    defer { writes.subtract(1, ordering: .relaxed) }
    return try await incarnation.around(.write) { () async throws(SyncError) -> R in
      let (result, before, after) = try await store.write(authority) { (transaction) throws(SyncError) in
        let before = try watch.lookBefore(transaction)
        let watched = WatchedTransaction(
          transaction, shouldCommit: self.writes.load(ordering: .relaxed) > 1)
        let result = try body(watched)
        return (result, before, try watch.look(at: transaction, touched: watched.touched))
      }
      watch.committed(before, after, under: authority, by: incarnation, isForgetting: self.isForgetting)
      return result
    }
  }

  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    let (watch, incarnation) = (incarnation.world.watch, incarnation)
    return try await incarnation.around(.acquire) { () async throws(SyncError) -> Lease in
      let lease = try await store.acquireLease(for: duration)
      watch.leases.acquired(lease, by: incarnation)
      incarnation.book.begin(fence: lease.fence)
      return lease
    }
  }

  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    let watch = incarnation.world.watch
    return try await incarnation.around(.renew) { () async throws(SyncError) -> Lease in
      let lease = try await store.renew(lease, for: duration)
      watch.leases.renewed(lease)
      return lease
    }
  }

  func release(_ lease: Lease) async throws(SyncError) {
    let watch = incarnation.world.watch
    try await incarnation.around(.release) { () async throws(SyncError) in
      try await store.release(lease)
      watch.leases.released(lease)
    }
  }
}

/// A transaction that notes its requested changes.
final class WatchedTransaction: ForwardingTransaction {
  let base: any StoreTransaction
  let shouldCommit: Bool
  private(set) var touched = Touched()

  init(_ base: any StoreTransaction, shouldCommit: Bool) {
    self.base = base
    self.shouldCommit = shouldCommit
  }

  func apply(_ changes: StoreChanges) throws(SyncError) {
    touched.note(changes)
    try base.apply(changes)
  }
}
