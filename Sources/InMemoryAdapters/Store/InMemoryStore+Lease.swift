public import SyncModels
import SyncPorts
import Synchronization

extension InMemoryStore {
  /// Takes the lease if it is free or has expired.
  public func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    let now = leaseClock()
    return try state.withLock { state throws(SyncError) in
      if let end = state.leaseEnd, now < end {
        throw SyncError(
          .syncAlreadyInProgress, during: "taking the lease",
          "Another sync into this store is running; its lease ends at \(end) at the latest.")
      }
      state.fence += 1
      state.leaseEnd = now + duration
      return Lease(fence: state.fence, expiresAt: now + duration)
    }
  }

  /// Extends the lease to a duration from now.
  ///
  /// An expired lease can be renewed too, unless another sync has taken it over.
  public func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    let now = leaseClock()
    return try state.withLock { state throws(SyncError) in
      try state.demand(.lease(lease))
      state.leaseEnd = now + duration
      return Lease(fence: lease.fence, expiresAt: now + duration)
    }
  }

  /// Gives the lease back.
  public func release(_ lease: Lease) async throws(SyncError) {
    state.withLock { state in
      if state.fence == lease.fence { state.leaseEnd = nil }
    }
  }
}

extension InMemoryStore.State {
  /// Refuses a lease that another sync took over, or that was given back.
  func demand(_ authority: WriteAuthority) throws(SyncError) {
    guard case .lease(let lease) = authority, lease.fence != fence || leaseEnd == nil else { return }
    throw SyncError(
      .leaseLost, during: "writing under lease \(lease.fence)",
      "The store's last lease is \(fence): another sync took over.")
  }
}
