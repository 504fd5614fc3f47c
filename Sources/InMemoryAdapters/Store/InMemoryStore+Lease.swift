public import SyncModels
import SyncPorts
import Synchronization

extension InMemoryStore {
  /// Takes the lease, if nobody has it or if it has run out.
  public func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    let now = leaseClock()
    return try state.withLock { state throws(SyncError) in
      #if MUTANTS
        if Mutant.leaseUnheeded.isActive { state.leaseEnd = nil }
        if Mutant.leaseForEver.isActive, state.leaseEnd != nil { state.leaseEnd = now + .seconds(1) }
      #endif
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

  /// Makes the lease last for a duration from now, even one that has run out, as long as nobody took it over.
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
  /// Refuses a lease that somebody took over, or that was given back.
  func demand(_ authority: WriteAuthority) throws(SyncError) {
    #if MUTANTS
      if Mutant.leaseWithoutFence.isActive { return }
    #endif
    guard case .lease(let lease) = authority, lease.fence != fence || leaseEnd == nil else { return }
    throw SyncError(
      .leaseLost, during: "writing under lease \(lease.fence)",
      "The store's last lease is \(fence): another sync took over.")
  }
}
