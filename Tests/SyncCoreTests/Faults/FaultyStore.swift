import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization

/// A store with one failing call, which reports every committed state.
///
/// The call fails before its effect or after it.
final class FaultyStore: LocalStore {
  enum Moment: String, CaseIterable, Sendable { case before, after }

  let store: InMemoryStore
  private let failingCall: Int?
  private let moment: Moment
  private let failingRenewal: Int?
  private let calls = Mutex(0)
  private let renewals = Mutex(0)
  private let committed: @Sendable () -> Void

  init(
    _ store: InMemoryStore, failingCall: Int? = nil, _ moment: Moment = .before,
    failingRenewal: Int? = nil, committed: @escaping @Sendable () -> Void = {}
  ) {
    self.store = store
    self.failingCall = failingCall
    self.moment = moment
    self.failingRenewal = failingRenewal
    self.committed = committed
  }

  /// The number of calls, without registrations.
  var callCount: Int { calls.withLock { $0 } }

  func register(_ schema: SyncSchema) async throws(SyncError) {
    try await store.register(schema)
  }

  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let isFailing = try enter("reading")
    let result = try await store.read(body)
    if isFailing { throw Self.fault("reading") }
    return result
  }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let isFailing = try enter("writing")
    let result = try await store.write(authority, body)
    committed()
    if isFailing { throw Self.fault("writing") }
    return result
  }

  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    let isFailing = try enter("taking the lease")
    let lease = try await store.acquireLease(for: duration)
    if isFailing { throw Self.fault("taking the lease") }
    return lease
  }

  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    let isFailing = try enter("renewing the lease")
    let number = renewals.withLock { renewals in
      renewals += 1
      return renewals
    }
    if number == failingRenewal { throw Self.fault("renewing the lease") }
    let lease = try await store.renew(lease, for: duration)
    if isFailing { throw Self.fault("renewing the lease") }
    return lease
  }

  func release(_ lease: Lease) async throws(SyncError) {
    let isFailing = try enter("releasing the lease")
    try await store.release(lease)
    if isFailing { throw Self.fault("releasing the lease") }
  }

  /// Counts a call, and returns whether it must fail after its effect.
  private func enter(_ operation: String) throws(SyncError) -> Bool {
    let number = calls.withLock { calls in
      calls += 1
      return calls
    }
    guard number == failingCall else { return false }
    if moment == .before { throw Self.fault(operation) }
    return true
  }

  private static func fault(_ operation: String) -> SyncError {
    SyncError(.storeFailure, during: operation, "The store was told to fail.")
  }
}
