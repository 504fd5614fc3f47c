import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization

/// A store whose writes take time, and fail from a certain one on.
final class SlowStore: ForwardingStore {
  private struct State {
    var writes = 0
    var writesWithoutLease = 0
    var leaseEnd: Timestamp?
  }

  let base: InMemoryStore
  private let clock: ManualClock
  private let duration: Duration
  private let limit: Int
  private let state = Mutex(State())

  init(
    _ base: InMemoryStore, _ clock: ManualClock, eachWriteTakes duration: Duration,
    failingAfter limit: Int = .max
  ) {
    self.base = base
    self.clock = clock
    self.duration = duration
    self.limit = limit
  }

  /// The number of writes, and of those that began after the end of the lease.
  var writes: Int { state.withLock { $0.writes } }
  var writesWithoutLease: Int { state.withLock { $0.writesWithoutLease } }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let now = clock.timestamp
    let isOver = state.withLock { state in
      state.writes += 1
      if let end = state.leaseEnd, end <= now { state.writesWithoutLease += 1 }
      return state.writes > limit
    }
    if isOver { throw SyncError(.storeFull, during: "writing") }
    let result = try await base.write(authority, body)
    clock.advance(by: duration)
    return result
  }

  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    note(try await base.acquireLease(for: duration))
  }

  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    note(try await base.renew(lease, for: duration))
  }

  func release(_ lease: Lease) async throws(SyncError) {
    try await base.release(lease)
    state.withLock { $0.leaseEnd = nil }
  }

  private func note(_ lease: Lease) -> Lease {
    state.withLock { $0.leaseEnd = lease.expiresAt }
    return lease
  }
}
