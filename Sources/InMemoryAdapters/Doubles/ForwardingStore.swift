package import SyncModels
package import SyncPorts

/// A store that forwards every call to another one; doubles replace single calls.
package protocol ForwardingStore: LocalStore {
  associatedtype Base: LocalStore
  var base: Base { get }
}

extension ForwardingStore {
  package func register(_ schema: SyncSchema) async throws(SyncError) { try await base.register(schema) }

  package func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await base.read(body)
  }

  package func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try await base.write(authority, body)
  }

  package func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    try await base.acquireLease(for: duration)
  }

  package func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    try await base.renew(lease, for: duration)
  }

  package func release(_ lease: Lease) async throws(SyncError) { try await base.release(lease) }
}
