import CanonicalSync
import InMemoryAdapters
import Synchronization

/// A store in which something happens right before the first write.
final class InterruptedStore: LocalStore {
  private let store: InMemoryStore
  private let interruption: @Sendable () async throws(SyncError) -> Void
  private let isOver = Mutex(false)

  init(_ store: InMemoryStore, _ interruption: @escaping @Sendable () async throws(SyncError) -> Void) {
    self.store = store
    self.interruption = interruption
  }

  func register(_ graph: EntityGraph) async throws(SyncError) { try await store.register(graph) }

  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await store.read(body)
  }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let isFirst = isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
    if isFirst { try await interruption() }
    return try await store.write(authority, body)
  }

  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    try await store.acquireLease(for: duration)
  }

  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    try await store.renew(lease, for: duration)
  }

  func release(_ lease: Lease) async throws(SyncError) { try await store.release(lease) }
}
