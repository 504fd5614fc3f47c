import CanonicalSync
import SyncAdapters
import Synchronization

/// A store whose process dies at a given writing transaction.
///
/// It dies before the commit or just after it. All later calls fail until a restart.
final class CrashingStore: LocalStore {
  private struct State {
    var writesLeft: Int?
    var isCommitted = false
    var isDead = false
  }
  private let base: any LocalStore
  private let state = Mutex(State())

  init(_ base: any LocalStore) {
    self.base = base
  }

  /// Makes the process die at a later transaction.
  func crash(afterWrites count: Int, isCommitted: Bool) {
    state.withLock { $0 = State(writesLeft: count, isCommitted: isCommitted) }
  }

  /// Restarts the process.
  func restart() { state.withLock { $0 = State() } }

  func register(_ schema: SyncSchema) async throws(SyncError) {
    try await base.register(schema)
  }

  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try checkAlive()
    return try await base.read(body)
  }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try checkAlive()
    let (isLast, isCommitted) = state.withLock { state in
      guard let left = state.writesLeft else { return (false, false) }
      state.writesLeft = left - 1
      state.isDead = left <= 0
      return (left <= 0, state.isCommitted)
    }
    if isLast && !isCommitted { throw Self.death }
    let result = try await base.write(authority, body)
    if isLast { throw Self.death }
    return result
  }

  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    try checkAlive()
    return try await base.acquireLease(for: duration)
  }

  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    try checkAlive()
    return try await base.renew(lease, for: duration)
  }

  func release(_ lease: Lease) async throws(SyncError) {
    try checkAlive()
    try await base.release(lease)
  }

  private func checkAlive() throws(SyncError) {
    if state.withLock(\.isDead) { throw Self.death }
  }

  private static var death: SyncError { SyncError(.storeFailure, during: "dying") }
}
